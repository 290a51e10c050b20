import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../../../../src/capability/index.js'
import { limits, ManualClock } from '../../../../src/core/index.js'
import { request, runs, sandboxOfFile } from '../guest.js'

const { sandbox } = sandboxOfFile()
const closed = expect.objectContaining({ code: 'sandbox.closed' })

/** Threads are numbered in the order in which they start. */
async function nextThreadId(): Promise<number> {
  const worker = new Worker('', { eval: true })
  const { threadId } = worker
  await worker.terminate()
  return threadId
}

describe('the pool', () => {
  it('X9: runs more executions than it has threads, each with its own state', async () => {
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        sandbox.execute(
          request(runs(`return api.storage.get('n') * 2`), { read: () => String(index) })
        )
      )
    )
    const texts = results.map((outcome) => (outcome.kind === 'done' ? outcome.resultText : ''))
    expect(texts).toEqual(texts.map((_, index) => String(index * 2)))
  })

  it('keeps more packages apart than it keeps loaded', async () => {
    for (let round = 0; round < 2; round += 1) {
      for (let index = 0; index < 40; index += 1) {
        const outcome = await sandbox.execute(request(runs(`return ${index}`)))
        expect(outcome).toMatchObject({ resultText: String(index) })
      }
    }
  })

  it('rethrows what reading the state throws, and runs the next call', async () => {
    const read = () => {
      throw new Error('the state is gone')
    }
    const body = runs(`try { api.storage.get('a') } catch {} return 1`)
    await expect(sandbox.execute(request(body, { read }))).rejects.toThrow('the state is gone')
    expect(await sandbox.execute(request(body))).toMatchObject({ resultText: '1' })
  })

  it('X6: the wall clock is the injected one', async () => {
    const clock = new ManualClock()
    const own = createSandbox({ threads: 1, clock })
    await own.warm()
    const stuck = own.execute(request(runs('for (;;);'), { limits: { gasTicks: 1e9 } }))
    for (let turn = 0; clock.nextDue === undefined && turn < 1_000; turn += 1) await null
    clock.advance(limits.SANDBOX_WALL_MS)
    expect(await stuck).toMatchObject({ code: 'killed', isDeterministic: false })
    await own.close()
  })

  it('X9: what waits for a thread that was ended gets another', async () => {
    const clock = new ManualClock()
    const own = createSandbox({ threads: 1, clock })
    await own.warm()
    const stuck = own.execute(request(runs('for (;;);'), { limits: { gasTicks: 1e9 } }))
    const waiting = [1, 2].map((n) => own.execute(request(runs(`return ${n}`))))
    for (let turn = 0; clock.nextDue === undefined && turn < 1_000; turn += 1) await null
    clock.advance(limits.SANDBOX_WALL_MS)
    expect(await stuck).toMatchObject({ code: 'killed' })
    const texts = ['1', '2'].map((resultText) => expect.objectContaining({ resultText }))
    expect(await Promise.all(waiting)).toEqual(texts)
    await own.close()
  })

  it('X9: so many executions wait at most, and one more is refused', async () => {
    const own = createSandbox({ threads: 1 })
    await own.warm()
    const loop = request(runs('for (;;);'), { limits: { gasTicks: 1e9, wallMs: 60_000 } })
    const length = limits.SANDBOX_QUEUE_MAX + 2
    const all = Promise.allSettled(Array.from({ length }, () => own.execute(loop)))
    for (let turn = 0; turn < 10; turn += 1) await null
    await own.close()
    const codes = (await all).map((one) => (one.status === 'rejected' ? one.reason : one.value))
    const [last, ...others] = codes.reverse()
    const what = 'The number of packages that wait for a thread'
    const counted = { what, actual: length - 1, limit: length - 2 }
    expect(last).toMatchObject({ code: 'core.limit_exceeded', context: counted })
    expect(others.filter(({ code }) => code !== 'sandbox.closed')).toEqual([])
  })

  it('X9: starts no more threads than it has, whatever waits', async () => {
    const own = createSandbox({ threads: 2 })
    const before = await nextThreadId()
    const all = Array.from({ length: 12 }, (_, n) => own.execute(request(runs(`return ${n}`))))
    expect((await Promise.all(all)).map(({ kind }) => kind)).toEqual(all.map(() => 'done'))
    expect((await nextThreadId()) - before - 1).toBe(2)
    await own.close()
  })

  it('X10: what was asked for in the moment of its close rejects, and starts no thread', async () => {
    const own = createSandbox({ threads: 1 })
    const before = await nextThreadId()
    const asked = own.execute(request(runs('return 1')))
    const ended = own.close()
    await expect(asked).rejects.toEqual(closed)
    await ended
    expect((await nextThreadId()) - before - 1).toBe(0)
  })

  it('X10: after close everything rejects, what runs and what waits included', async () => {
    const own = createSandbox({ threads: 1 })
    await own.warm()
    const loop = request(runs('for (;;);'), { limits: { gasTicks: 1e9, wallMs: 60_000 } })
    const open = [own.execute(loop), own.execute(loop), own.execute(loop)]
    const settled = Promise.allSettled(open)
    await null
    await own.close()
    expect(await settled).toEqual(open.map(() => ({ status: 'rejected', reason: closed })))
    await expect(own.execute(loop)).rejects.toEqual(closed)
    await expect(own.warm()).rejects.toEqual(closed)
  })
})
