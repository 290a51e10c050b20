import { describe, expect, it } from 'vitest'
import { defineBlock, EffectFailure } from '../../src/code/index.js'
import type { Json, RunId } from '../../src/core/index.js'
import type { RunHandle, WiredRuntime } from '../../src/runtime/index.js'
import { Machine, settleDown, until } from '../support/lives.js'

const document: Json = {
  schema: 'tally-composite/1',
  name: 'doubtful',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block: 'pay' } },
  transitions: {}
}

/** Fails without telling whether it happened, `times` times. */
function paying(sent: string[], times: number) {
  return defineBlock({
    name: 'pay',
    version: '1.0.0',
    sideEffects: 'non_idempotent',
    run: (ctx) =>
      ctx.effect('pay', {
        request: { amount: 1 },
        perform: ({ key }) => {
          sent.push(key)
          if (sent.length <= times) throw new EffectFailure('timeout')
          return { paid: sent.length }
        }
      })
  })
}

async function doubt(runtime: WiredRuntime, run: RunHandle) {
  await until(() => runtime.ledger.run('r' as RunId)?.status === 'waiting')
  await settleDown(() => runtime.ledger.run('r' as RunId)?.entries)
  const [wait] = await run.waits()
  if (wait === undefined) throw new Error('nobody is asked')
  expect(wait.actions).toEqual(['retry', 'resume', 'abort'])
  return wait
}

describe('an effect whose outcome is unknown', () => {
  it('L7: an effect in doubt is sent again under the same key when a person says so', async () => {
    const sent: string[] = []
    const runtime = await new Machine().open({ blocks: [paying(sent, 1)] })
    const run = runtime.begin(document, { id: 'r', inputs: {} })
    const { token, digest } = await doubt(runtime, run)
    expect(await run.resume(token, { digest, action: 'retry', by: 'ops' })).toEqual({
      accepted: true
    })
    expect((await run.result).response.data).toEqual({ paid: 2 })
    expect(new Set(sent).size).toBe(1)
    await runtime.close()
  })

  it('L7: an effect in doubt takes the outcome that a person gives, and records who gave it', async () => {
    for (const action of ['resume', 'abort'] as const) {
      const sent: string[] = []
      const runtime = await new Machine().open({ blocks: [paying(sent, 1)] })
      const run = runtime.begin(document, { id: 'r', inputs: {} })
      const { token, digest } = await doubt(runtime, run)
      const value = { paid: 'seen on the statement' }
      await run.resume(token, { digest, action, by: 'ops', value })
      const { status, response } = await run.result
      if (action === 'resume') expect(response.data).toEqual(value)
      else
        expect({ status, reason: response.reason }).toEqual({
          status: 'failed',
          reason: 'unknown_outcome'
        })
      expect(sent).toHaveLength(1)
      const answered: Json[] = []
      for await (const { value: entry } of runtime.journal('r')) {
        if ((entry as { k: string }).k === 'answered') answered.push(entry)
      }
      expect(answered).toMatchObject([{ token, action, by: { claimed: 'ops' } }])
      expect((await runtime.verify()).failure).toBeUndefined()
      await runtime.close()
    }
  })

  it('L7: asks again after a crash between the order to retry and its result', async () => {
    const sent: string[] = []
    const machine = new Machine()
    const hangs = defineBlock({
      name: 'pay',
      version: '1.0.0',
      sideEffects: 'non_idempotent',
      run: (ctx) =>
        ctx.effect('pay', {
          request: { amount: 1 },
          perform: ({ key }) => {
            sent.push(key)
            if (sent.length === 1) throw new EffectFailure('timeout')
            return sent.length === 2 ? new Promise<Json>(() => undefined) : { paid: true }
          }
        })
    })
    const first = await machine.open({ blocks: [hangs] })
    const run = first.begin(document, { id: 'r', inputs: {} })
    const { token, digest } = await doubt(first, run)
    await run.resume(token, { digest, action: 'retry' })
    await until(() => sent.length === 2)
    first.life.isDead = true
    machine.disk.crash('power')
    const again = await machine.open({ blocks: [hangs] })
    const resumed = await again.resume('r')
    const asked = await doubt(again, resumed)
    await resumed.resume(asked.token, { digest: asked.digest, action: 'retry' })
    expect((await resumed.result).response.data).toEqual({ paid: true })
    expect(new Set(sent).size).toBe(1)
    expect((await again.verify()).failure).toBeUndefined()
    await again.close()
  })

  it('C3: goes to the next provider only when the first certainly did nothing', async () => {
    for (const definite of [true, false]) {
      const asked: string[] = []
      const block = (name: string, fails: boolean) =>
        defineBlock({
          name,
          version: '1.0.0',
          sideEffects: 'idempotent',
          run: (ctx) =>
            ctx.effect('act', {
              request: name,
              perform: () => {
                asked.push(name)
                if (fails) throw new EffectFailure('refused', { definite })
                return name
              }
            })
        })
      const runtime = await new Machine().open({
        blocks: [block('first', true), block('second', false)]
      })
      const nodes = { a: { block: 'first', recovery: [{ fallback: ['second'] }] } }
      const run = runtime.begin({ ...(document as object), nodes } as Json, { id: 'r', inputs: {} })
      const { status, response } = await run.result
      if (definite) expect(response).toMatchObject({ data: 'second' })
      else
        expect({ status, reason: response.reason }).toEqual({
          status: 'failed',
          reason: 'unsafe_to_retry'
        })
      expect(asked).toEqual(definite ? ['first', 'second'] : ['first'])
      await runtime.close()
    }
  })
})
