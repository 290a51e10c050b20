import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { createRuntime } from '../../src/index.js'
import { builtModule } from '../support/built.js'

const worker = fileURLToPath(new URL('schedules-kill/worker.mjs', import.meta.url))
const library = builtModule('index.js')
const EVERY_MS = 1_000
const POLL_MS = 20
const PREFIX = 'schedule:beat:'

/** A process that holds the ledger, once it does; killed at a moment of its own, or not (0). */
async function holder(folder: string, killedAt: number): Promise<ChildProcess> {
  const given = { library, location: join(folder, 'ledger'), log: join(folder, 'log'), killedAt }
  const child = spawn(process.execPath, [worker, JSON.stringify(given)], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  await Promise.race([once(child.stdout ?? child, 'data'), once(child, 'exit')])
  return child
}

const toldIn = (folder: string): readonly string[] => {
  const file = join(folder, 'log')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

it('B14, Q10: killed and handed over, each time has one run, and none is left out', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tally-schedules-'))
  const told = async (count: number) => {
    while (new Set(toldIn(folder)).size < count) await after(POLL_MS)
  }
  try {
    // Before and behind the work of a run; then two that hand the ledger on.
    for (const killedAt of [1, 2]) await ended(await holder(folder, killedAt))
    const first = await holder(folder, 0)
    await told(3)
    const second = await holder(folder, 0)
    await ended(first)
    await told(5)
    second.kill('SIGTERM')
    await ended(second)
    const location = join(folder, 'ledger')
    const tally = await createRuntime({ location, insecurePlaintextKey: true, resume: false })
    const times: number[] = []
    for await (const { runId, status } of tally.runs()) {
      if (!runId.startsWith(PREFIX)) continue
      expect(status).toBe('done')
      times.push(Date.parse(runId.slice(PREFIX.length)))
    }
    const earliest = Math.min(...times)
    const all = times.map((_, place) => earliest + place * EVERY_MS)
    expect(times.sort((one, other) => one - other)).toEqual(all)
    const runs = new Set(toldIn(folder))
    expect(runs.size).toBe(times.length)
    // What was done twice is the step in whose midst a process was killed, and no other.
    expect(toldIn(folder).length - runs.size).toBeLessThanOrEqual(2)
    await tally.close()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
