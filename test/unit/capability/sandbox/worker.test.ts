import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSandbox, type Sandbox } from '../../../../src/capability/index.js'
import { type Engine, loadEngine } from '../../../../src/capability/sandbox/engine.js'
import type { RunMessage } from '../../../../src/capability/sandbox/protocol.js'
import { SandboxWorker } from '../../../../src/capability/sandbox/worker.js'
import { sha256Hex, systemClock } from '../../../../src/core/index.js'
import { temporaryDirectory } from '../../../support/snapshots.js'
import { request, runs } from '../guest.js'

/** Ports of threads that keep this process alive. */
function kept(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The most ports that were kept until the work was done, which takes many turns. */
async function mostKept(work: Promise<unknown>): Promise<number> {
  let most = 0
  let isDone = false
  const ended = work.finally(() => {
    isDone = true
  })
  while (!isDone) {
    most = Math.max(most, kept())
    await nextTurn()
  }
  await ended
  return most
}

const reading = `api.storage.get('a')`

/** The ports that are kept while a guest waits for what it reads. */
async function keptWhileReading(sandbox: Sandbox, body: string): Promise<number> {
  let found = Number.NaN
  const read = () => {
    found = kept()
    return undefined
  }
  await sandbox.execute(request(runs(body), { read }))
  return found
}

describe('the process (X8)', () => {
  it('stays alive for a thread that starts or works, and for none that is idle', async () => {
    const before = kept()
    const own = createSandbox({ threads: 1 })
    expect(await mostKept(own.warm())).toBeGreaterThan(before)
    expect(kept()).toBe(before)
    await own.warm()
    expect(kept()).toBe(before)
    for (const body of [reading, `${reading}; throw new Error()`, `${reading}; for (;;);`]) {
      expect(await keptWhileReading(own, body)).toBeGreaterThan(before)
      expect(kept()).toBe(before)
    }
    await own.close()
    expect(kept()).toBe(before)
  })

  it('stays alive for what waits for a thread that was not warmed', async () => {
    const before = kept()
    const own = createSandbox({ threads: 1 })
    expect(await keptWhileReading(own, reading)).toBeGreaterThan(before)
    expect(kept()).toBe(before)
    await own.close()
  })
})

describe('a thread', () => {
  let place: Awaited<ReturnType<typeof temporaryDirectory>>
  let engine: Engine
  beforeEach(async () => {
    place = await temporaryDirectory('sandbox-thread')
    engine = await loadEngine()
  })
  afterEach(() => place.remove())

  /** What the failure says of a thread in which this code runs in place of the engine. */
  async function problemOf(code: string): Promise<string> {
    const coreFile = join(place.path('core.cjs'))
    writeFileSync(coreFile, code)
    const worker = new SandboxWorker({ ...engine, coreFile }, systemClock)
    const error = await worker.ready().then(
      () => ({}),
      (thrown: object) => thrown
    )
    expect(worker.isDead).toBe(true)
    expect(error).toMatchObject({ code: 'sandbox.engine_failed' })
    await worker.close()
    return (error as { readonly context: { readonly problem: string } }).context.problem
  }

  it('that cannot start rejects ready() and later runs with the cause', async () => {
    expect(await problemOf(`throw new Error('no such engine')`)).toBe('no such engine')
    expect(await problemOf('process.exit(7)')).toBe('its thread ended with code 7')
    const coreFile = place.path('core.cjs')
    const worker = new SandboxWorker({ ...engine, coreFile }, systemClock)
    await worker.ready().catch(() => undefined)
    await expect(worker.run({} as never, () => undefined)).rejects.toMatchObject({
      code: 'sandbox.engine_failed'
    })
    await worker.close()
  })

  const endless = `globalThis.x = 0; export function run() { for (;;); }`
  const messageOf = (wallMs: number): RunMessage => ({
    codeHash: sha256Hex(endless),
    bundle: endless,
    gasUnit: 'steps',
    intentText: '{}',
    declared: [],
    granted: [],
    now: 0,
    words: [1, 2, 3, 4],
    recorded: [],
    limits: { gasTicks: 1e9, hostCalls: 1, hostBytes: 1_000, microtasks: 10, wallMs }
  })

  it('that cannot start rejects the run that waits for it', async () => {
    const coreFile = place.path('core.cjs')
    writeFileSync(coreFile, `throw new Error('no such engine')`)
    const worker = new SandboxWorker({ ...engine, coreFile }, systemClock)
    const run = worker.run(messageOf(60_000), () => undefined)
    await expect(run).rejects.toMatchObject({
      code: 'sandbox.engine_failed',
      context: { problem: 'no such engine' }
    })
    await worker.close()
  })

  it('that dies while it works is a fault of the run, with the cause', async () => {
    const coreFile = place.path('core.cjs')
    const dies = `require('node:worker_threads').parentPort.on('message', () => process.exit(9))`
    writeFileSync(coreFile, `module.exports = require(${JSON.stringify(engine.coreFile)}); ${dies}`)
    const worker = new SandboxWorker({ ...engine, coreFile }, systemClock)
    await worker.ready()
    // The thread's own listener comes second, and never gets the message.
    expect(await worker.run(messageOf(60_000), () => undefined)).toEqual({
      kind: 'fault',
      problem: 'its thread ended with code 9'
    })
    expect(worker.isDead).toBe(true)
    await worker.close()
  })

  it('that was killed at its time limit refuses later runs, and says why', async () => {
    const worker = new SandboxWorker(engine, systemClock)
    await worker.ready()
    expect(await worker.run(messageOf(20), () => undefined)).toEqual({ kind: 'killed' })
    await expect(worker.run(messageOf(20), () => undefined)).rejects.toMatchObject({
      code: 'sandbox.engine_failed',
      context: { problem: 'its thread was ended' }
    })
    await worker.close()
  })

  it('has nothing of its process: no flags, variables or streams, and so much memory', async () => {
    const write = vi.spyOn(process.stdout, 'write')
    const writeError = vi.spyOn(process.stderr, 'write')
    const problem = await problemOf(`
      const { resourceLimits } = require('node:worker_threads')
      process.stdout.write('from the thread')
      process.stderr.write('from the thread')
      const found = { flags: process.execArgv, variables: { ...process.env }, resourceLimits }
      throw new Error(JSON.stringify(found))
    `)
    const { flags, variables, resourceLimits } = JSON.parse(problem)
    expect({ flags, variables }).toEqual({ flags: [], variables: {} })
    expect(resourceLimits).toMatchObject({ maxOldGenerationSizeMb: 128, stackSizeMb: 4 })
    for (let turn = 0; turn < 20; turn += 1) await nextTurn()
    const written = [...write.mock.calls, ...writeError.mock.calls].map(([text]) => String(text))
    expect(written.filter((text) => text.includes('from the thread'))).toEqual([])
  })
})
