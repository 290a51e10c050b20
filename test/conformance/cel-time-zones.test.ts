import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const run = promisify(execFile)
const jiti = fileURLToPath(new URL('../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url))
const script = fileURLToPath(new URL('./fixtures/cel-calendar.ts', import.meta.url))
const zones = ['UTC', 'America/New_York', 'Asia/Tehran', 'Pacific/Apia', 'Europe/Dublin']

describe('the host time zone', () => {
  it('D4: changes no result', { timeout: 120_000 }, async () => {
    const outputs: string[] = []
    for (const zone of zones) {
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
