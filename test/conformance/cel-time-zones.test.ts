import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { cases } from '../support/effort.js'

const run = promisify(execFile)
const jiti = fileURLToPath(new URL('../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url))
const script = fileURLToPath(new URL('./fixtures/cel-calendar.ts', import.meta.url))
// The first two are a day apart, and change their clocks in opposite halves of the year.
const zones = ['America/New_York', 'Pacific/Apia', 'UTC', 'Asia/Tehran', 'Europe/Dublin']

describe('the host time zone', () => {
  it('D4: changes no result', { timeout: 120_000 }, async () => {
    const outputs: string[] = []
    for (const zone of zones.slice(0, cases({ usual: 2, long: zones.length }))) {
      const { stdout } = await run(process.execPath, [jiti, script], {
        env: { ...process.env, TZ: zone, LANG: 'tr_TR.UTF-8' }
      })
      const [zoneLine = '', ...results] = stdout.trim().split('\n')
      expect(zoneLine).toBe(`offset ${zone}`)
      expect(results.length).toBeGreaterThan(400)
      outputs.push(results.join('\n'))
    }
    expect(new Set(outputs).size).toBe(1)
  })
})
