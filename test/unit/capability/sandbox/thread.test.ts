import { createRequire } from 'node:module'
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { loadEngine } from '../../../../src/capability/sandbox/engine.js'
import { GasMeter } from '../../../../src/capability/sandbox/gas-meter.js'
import { HostCallLog } from '../../../../src/capability/sandbox/host-call-log.js'
import type {
  GuestReport,
  RunMessage,
  ThreadData,
  ThreadMessage
} from '../../../../src/capability/sandbox/protocol.js'
import { SandboxThread } from '../../../../src/capability/sandbox/thread.js'
import { present, sha256Hex } from '../../../../src/core/index.js'
import { NOW_MS, runs } from '../guest.js'

const required = createRequire(import.meta.url)
const limits = { gasTicks: 1_000, hostCalls: 100, hostBytes: 1e6, microtasks: 1_000, wallMs: 1e6 }

function messageOf(bundle: string, more: Partial<RunMessage> = {}): RunMessage {
  return {
    codeHash: sha256Hex(bundle),
    bundle,
    gasUnit: 'steps',
    intentText: '{}',
    declared: ['storage.read'],
    granted: ['storage.read'],
    now: NOW_MS,
    words: [1, 2, 3, 4],
    recorded: [],
    limits,
    ...more
  }
}

/** Without its bundle: the thread is to hold the package. */
function held({ bundle, ...message }: RunMessage): RunMessage {
  return message
}

/** A thread's own code, run in this one; `read` answers at once, as the pool does. */
async function startThread(more: Partial<ThreadData> = {}) {
  const engine = await loadEngine()
  const wake = new SharedArrayBuffer(4)
  const { port1, port2 } = new MessageChannel()
  for (const port of [port1, port2]) port.unref()
  const posted: ThreadMessage[] = []
  const reads: string[] = []
  let take: ((message: RunMessage) => void) | undefined
  const parentPort = {
    on: (_name: string, listener: (message: RunMessage) => void) => {
      take = listener
    },
    postMessage: (message: ThreadMessage) => {
      if (message.type !== 'read') return void posted.push(message)
      reads.push(message.key)
      port1.postMessage({ text: `"of ${message.key}"` })
      Atomics.store(new Int32Array(wake), 0, 1)
    }
  }
  const threads = {
    workerData: { ...engine, ...more, wake, answers: port2 },
    parentPort,
    receiveMessageOnPort
  }
  const variant = required('@jitl/quickjs-wasmfile-release-sync')
  const thread = new SandboxThread({
    threads: threads as never,
    core: required('quickjs-emscripten-core'),
    variant: variant.default ?? variant,
    Log: HostCallLog,
    Meter: GasMeter
  })
  await thread.boot()
  const send = (message: RunMessage): ThreadMessage => {
    present(take, 'the thread listens')(message)
    return present(posted.pop(), 'an answer')
  }
  const report = (message: RunMessage): GuestReport => {
    const answer = send(message)
    if (answer.type !== 'report') throw new Error(`it answered ${answer.type}`)
    return answer.report
  }
  return { posted, reads, send, report }
}

const done = (text: string) => ({ ending: { kind: 'done', text } })

describe('a thread of the sandbox', () => {
  it('says that it is ready, once', async () => {
    const { posted } = await startThread()
    expect(posted).toEqual([{ type: 'ready' }])
  })

  it('asks for a package that it does not hold, and holds it from then on', async () => {
    const { send, report } = await startThread()
    const message = messageOf(runs('return 1'))
    expect(send(held(message))).toEqual({ type: 'unknown_package' })
    expect(report(message)).toMatchObject(done('1'))
    expect(report(held(message))).toMatchObject(done('1'))
  })

  it('reads what is asked for, and only then', async () => {
    const { reads, report } = await startThread()
    const body = `return [api.storage.get('a'), api.storage.get('b')]`
    expect(report(messageOf(runs(body)))).toMatchObject(done('["of a","of b"]'))
    expect(reads).toEqual(['a', 'b'])
  })
})

describe('packages that a thread holds', () => {
  const packages = Array.from({ length: 4 }, (_, index) => messageOf(runs(`return ${index}`)))
  const isHeld = (thread: Awaited<ReturnType<typeof startThread>>, messages = packages) =>
    messages.map((message) => thread.send(held(message)).type === 'report')

  it('are so many at most: the oldest goes', async () => {
    const thread = await startThread({ imagesMax: 2 })
    for (const message of packages) thread.report(message)
    expect(isHeld(thread)).toEqual([false, false, true, true])
  })

  it('have so many bytes at most: a large one pushes others out, small ones do not', async () => {
    const thread = await startThread({ imageBytesMax: 8 * 1024 * 1024 })
    for (const message of packages) thread.report(message)
    expect(isHeld(thread)).toEqual([true, true, true, true])
    const large = ['a', 'b'].map((letter) =>
      messageOf(`const text = '${letter}'.repeat(5e6); ${runs('return text.length')}`)
    )
    for (const message of large) expect(thread.report(message)).toMatchObject(done('5000000'))
    expect(isHeld(thread, large)).toEqual([false, true])
    expect(isHeld(thread)).toEqual([false, false, false, false])
  })
})

describe('a package that does not load', () => {
  const notLoaded = (name: string, message: string) => ({
    ending: { kind: 'not_loaded', name, message }
  })
  it.each([
    ['has no run', 'export const other = 1', 'Error', 'the module does not export a function run'],
    [
      'has a run that is none',
      'export const run = 1',
      'Error',
      'the module does not export a function run'
    ],
    [
      'waits for ever',
      `await new Promise(() => {}); ${runs('')}`,
      'Error',
      'the module waits for ever'
    ],
    ['throws', `throw new RangeError('too far')\n${runs('')}`, 'RangeError', 'too far'],
    ['rejects', `await Promise.reject(new TypeError('no'))\n${runs('')}`, 'TypeError', 'no'],
    ['throws no error', `throw 1\n${runs('')}`, 'Error', '']
  ])('%s', async (_title, bundle, name, message) => {
    const { report } = await startThread()
    const given = messageOf(bundle)
    expect(report(given)).toMatchObject(notLoaded(name, message))
    // It is not held: the same is said again.
    const again = report(given)
    expect(again).toMatchObject(notLoaded(name, message))
    expect(again.engineFault).toBeUndefined()
  })

  it('that exceeds a limit while it loads is not cached, and exceeds it again', async () => {
    const { report } = await startThread()
    const given = messageOf(`for (let n = 0; n < 1e5; n += 1) await null\n${runs('return 1')}`)
    const [first, again] = [report(given), report(given)]
    expect(first).toMatchObject({ exceeded: 'microtasks_exceeded' })
    expect(again).toEqual(first)
  })

  it('is told of in so many characters at most', async () => {
    const { report } = await startThread()
    const thrown = `throw Object.assign(new Error('m'.repeat(2000)), { name: 'n'.repeat(200) })`
    expect(report(messageOf(runs(thrown)))).toMatchObject({
      ending: { kind: 'thrown', name: 'n'.repeat(100), message: 'm'.repeat(1000) }
    })
  })
})

describe('the end of an execution', () => {
  it('X5: is a fault of the engine where the thread itself has failed', async () => {
    const { report } = await startThread()
    const { engineFault, exceeded } = report(
      messageOf(runs('return 1'), { words: null as unknown as RunMessage['words'] })
    )
    expect(engineFault).toMatch(/^TypeError: /)
    expect(exceeded).toBeUndefined()
  })

  it.each([
    ['gas_exceeded', 'for (;;);'],
    ['memory_exceeded', `const all = []; for (;;) all.push('x'.repeat(1e6) + all.length)`],
    ['microtasks_exceeded', 'for (;;) await null']
  ])('X3: is %s where that limit is, and no fault', async (exceeded, body) => {
    const { report } = await startThread()
    const found = report(messageOf(runs(body)))
    expect(found).toMatchObject({ exceeded })
    expect(found.engineFault).toBeUndefined()
    expect(report(messageOf(runs('return 1')))).toMatchObject(done('1'))
  })

  it('X3: is no limit where exactly so many microtasks were needed', async () => {
    const { report } = await startThread()
    const body = runs('for (let n = 0; n < 20; n += 1) await null; return 1')
    const ends = Array.from({ length: 40 }, (_, microtasks) =>
      report(messageOf(body, { limits: { ...limits, microtasks } }))
    )
    const enough = ends.findIndex(({ exceeded }) => exceeded === undefined)
    expect(enough).toBeGreaterThan(20)
    for (const [place, end] of ends.entries()) {
      expect(end).toMatchObject(place < enough ? { exceeded: 'microtasks_exceeded' } : done('1'))
    }
  })

  it('names the first recorded result for which no call was made', async () => {
    const { report } = await startThread()
    const recorded = [{ seq: 7, ok: true, text: '1' }]
    const waits = runs('await new Promise(() => undefined)')
    expect(report(messageOf(waits, { recorded }))).toMatchObject({ divergedAt: 7 })
    expect(report(messageOf(waits)).divergedAt).toBeUndefined()
  })

  it('X1: leaves no byte of what it had in memory to the next one', async () => {
    const { report } = await startThread()
    const probe = messageOf(runs('return [typeof globalThis.left, Object.keys(globalThis).length]'))
    const before = report(probe)
    report(messageOf(runs(`globalThis.left = 'x'.repeat(1e6); return 1`)))
    report(messageOf(runs(`globalThis.left = 1; for (;;);`)))
    expect(report(probe)).toEqual(before)
  })
})
