import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { isLong } from '../support/effort.js'
import { calendar } from './fixtures/cel-calendar.js'

const run = promisify(execFile)
const jiti = fileURLToPath(new URL('../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url))
const script = fileURLToPath(new URL('./fixtures/print-calendar.ts', import.meta.url))
const zones = ['UTC', 'America/New_York', 'Asia/Tehran', 'Pacific/Apia', 'Europe/Dublin']

afterEach(() => vi.unstubAllEnvs())

describe('the host time zone', () => {
  it('D4: changes no result', async () => {
    const outputs: string[] = []
    for (const zone of zones) {
      const [zoneLine = '', ...results] = (await calendarIn(zone)).trim().split('\n')
      expect(zoneLine).toBe(`offset ${zone}`)
      expect(results.length).toBeGreaterThan(400)
      outputs.push(results.join('\n'))
    }
    expect(new Set(outputs).size).toBe(1)
  })
})

/** In the usual form this process changes its zone; in the long form each has its own process. */
async function calendarIn(zone: string): Promise<string> {
  if (isLong) {
    const env = { ...process.env, TZ: zone, LANG: 'tr_TR.UTF-8' }
    return (await run(process.execPath, [jiti, script], { env })).stdout
  }
  vi.stubEnv('TZ', zone)
  return calendar()
}
