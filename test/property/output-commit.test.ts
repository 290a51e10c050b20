import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import type { Json, JsonObject, RunId } from '../../src/core/index.js'
import { openMemoryStore, type Store, type StoreItem } from '../../src/ledger/index.js'
import { storeAround } from '../../src/ledger/stores/store-around.js'
import type { WiredRuntime } from '../../src/runtime/index.js'
import { codeOf, Machine, openOn, until } from '../support/lives.js'

/** Whether what the run had decided when something left is durable by then. */
class Witness {
  runtime: WiredRuntime | undefined
  readonly early: string[] = []
  seen = 0

  /** Called at the moment that something leaves the process. */
  leaves(what: string, needed: (durable: readonly string[]) => boolean): void {
    this.seen += 1
    if (!needed(this.#durable)) this.early.push(what)
  }

  /** How often a read was performed while the disk did not have the step before it. */
  ahead = 0

  /** A read that does not wait for the disk. */
  peeks(name: string): string {
    if (!has('settled', '"path":"root/read"')(this.#durable)) this.ahead += 1
    return name
  }

  #durable: string[] = []

  /** A store that notes what has been synced. */
  store(inner: Store, slowTurns: number): Store {
    const commit = async (items: readonly StoreItem[]) => {
      for (let turn = 0; turn < slowTurns; turn += 1) await new Promise(setImmediate)
      const applied = await inner.commit(items)
      for (const { puts } of items) {
        for (const [, value] of puts) this.#durable.push(Buffer.from(value).toString('latin1'))
      }
      return applied
    }
    return storeAround(inner, { commit })
  }
}

const has =
  (...parts: readonly string[]) =>
  (durable: readonly string[]) =>
    durable.some((text) => parts.every((part) => text.includes(part)))

function blocksOf(witness: Witness) {
  const acting = (name: string, sideEffects: 'none' | 'idempotent' | 'non_idempotent') => {
    const isPeek = name === 'peek'
    return defineBlock({
      name,
      version: '1.0.0',
      sideEffects,
      run: async (ctx) => {
        ctx.state.set(name, ctx.unitId)
        return ctx.effect(name, {
          request: name,
          durable: !isPeek,
          perform: (call) => {
            if (isPeek) return witness.peeks(name)
            // Everything before it: the step before has its receipt, a write has its request.
            const needed =
              sideEffects === 'none' ? has('"pure"', 'settled') : has('requested', call.key)
            witness.leaves(`effect ${name}`, needed)
            // The answer of a read that did not wait is there before a write is sent.
            if (sideEffects !== 'none') witness.leaves('after peek', has('sealed', '"peek"'))
            return name
          }
        })
      }
    })
  }
  return [
    defineBlock({ name: 'pure', version: '1.0.0', sideEffects: 'none', run: () => 'pure' }),
    acting('read', 'none'),
    acting('peek', 'none'),
    acting('post', 'idempotent'),
    acting('pay', 'non_idempotent'),
    defineBlock({
      name: 'ask',
      version: '1.0.0',
      sideEffects: 'none',
      run: async (ctx) => {
        ctx.log('before the wait')
        return (await ctx.wait({ reason: 'confirmation' })).action
      }
    })
  ]
}

const document: JsonObject = {
  schema: 'tally-composite/1',
  name: 'leaving',
  version: '1.0.0',
  entry_point: 'pure',
  nodes: {
    pure: { block: 'pure' },
    read: { block: 'read' },
    peek: { block: 'peek' },
    post: { block: 'post' },
    pay: { block: 'pay' },
    ask: { block: 'ask' },
    last: { block: 'pure' }
  },
  transitions: { pure: 'read', read: 'peek', peek: 'post', post: 'pay', pay: 'ask', ask: 'last' }
}

/** As an atomic composite: steps that nothing asks for are gathered until something leaves. */
const atomicDocument: JsonObject = {
  ...document,
  atomic: true,
  entry_point: 'ask',
  nodes: {
    ask: { block: 'ask' },
    pure: { block: 'pure' },
    read: { block: 'read' },
    more: { block: 'pure' },
    last: { block: 'pure' }
  },
  transitions: { ask: 'pure', pure: 'read', read: 'more', more: 'last' }
}

describe('output commit', () => {
  it.each([
    [0, document],
    [1, document],
    [7, document],
    [0, atomicDocument],
    [7, atomicDocument]
  ])('D2: what leaves is durable, with a disk that takes %i turns (%#)', async (slow, document) => {
    const witness = new Witness()
    const store = witness.store(openMemoryStore(), slow)
    const runtime = await openOn(store, { blocks: blocksOf(witness) })
    const run = runtime.begin(document, { id: 'r', inputs: {} })
    for await (const event of run) {
      switch (event.type) {
        case 'run.started':
          witness.leaves(event.type, has('run.started'))
          break
        case 'block.settled':
          witness.leaves(event.type, has('settled', `"path":"${event.path}"`))
          if (event.receiptHash !== undefined) {
            witness.leaves('receipt', has(event.receiptHash))
          }
          break
        case 'effect.sealed':
          witness.leaves(event.type, has('sealed', `"path":"${event.path}"`))
          break
        case 'waiting': {
          witness.leaves(event.type, has('"k":"wait"', event.token))
          const { accepted } = await run.approve(event.token, { digest: event.digest })
          expect(accepted).toBe(true)
          witness.leaves('outcome', has('sealed', event.digest))
          break
        }
        case 'run.finished':
          witness.leaves(event.type, has('run.finished'))
          break
        default:
          break
      }
    }
    await run.result
    witness.leaves('result', has('run.finished'))
    expect(witness.early).toEqual([])
    expect(witness.seen).toBeGreaterThan(14)
    await runtime.close()
  })

  it.each([
    ['output', 1],
    ['step', 0]
  ] as const)(
    'D2: with durability %s, %i reads of one run ahead of the disk',
    async (durability, count) => {
      const witness = new Witness()
      const store = witness.store(openMemoryStore(), 7)
      const runtime = await openOn(store, { blocks: blocksOf(witness), durability })
      const reading = {
        ...document,
        nodes: { pure: { block: 'pure' }, read: { block: 'read' }, peek: { block: 'peek' } },
        transitions: { pure: 'read', read: 'peek' }
      }
      expect((await runtime.begin(reading, { id: 'r', inputs: {} }).result).status).toBe('done')
      expect(witness.ahead).toBe(count)
      await runtime.close()
    }
  )

  it('D2: a read whose process dies is performed again, and nothing else is', async () => {
    const machine = new Machine()
    const performed: string[] = []
    let onPeek: () => void = () => undefined
    const effect = (name: string, sideEffects: 'none' | 'idempotent') =>
      defineBlock({
        name,
        version: '1.0.0',
        sideEffects,
        run: (ctx) =>
          ctx.effect(name, {
            perform: () => {
              performed.push(name)
              if (name === 'peek') onPeek()
              return performed.length
            }
          })
      })
    const blocks = [effect('peek', 'none'), effect('post', 'idempotent')]
    const nodes = { peek: { block: 'peek' }, post: { block: 'post' } }
    const transitions = { peek: 'post' }
    const reading = { ...document, entry_point: 'peek', nodes, transitions }
    const first = await machine.open({ blocks })
    const seen = new Promise<void>((resolve) => {
      onPeek = resolve
    })
    first.begin(reading, { id: 'r', inputs: {} }).result.catch(() => undefined)
    await seen
    machine.disk.crash('power')
    const again = await machine.open({ blocks })
    const { status } = await again.begin(reading, { id: 'r', inputs: {} }).result
    expect(status).toBe('done')
    expect(performed).toEqual(['peek', 'peek', 'post'])
    await again.close()
  })

  it('D2, L3: after a failed write nothing leaves, and reopening works', async () => {
    for (const fault of ['sync_failed', 'disk_full'] as const) {
      for (let after = 0; after < 12; after += 1) {
        const machine = new Machine(after)
        const left: string[] = []
        const blocks = blocksOf(new Witness())
        const runtime = await machine.open({ blocks })
        let broken = false
        machine.disk.failCommits({ after, times: 1, fault })
        runtime.ledger.onMode(({ mode }) => {
          if (mode === 'poisoned') broken = true
        })
        const run = runtime.begin(document, { id: 'r', inputs: {} })
        const reading = (async () => {
          for await (const event of run) {
            if (broken) left.push(event.type)
            if (event.type === 'waiting') {
              const outcome = codeOf(run.approve(event.token, { digest: event.digest }))
              if (broken) left.push(JSON.stringify(await outcome))
            }
          }
        })().catch(() => undefined)
        const result = await codeOf(run.result)
        await reading
        if (broken) expect(result, `after ${after}`).toBe('ledger.poisoned')
        expect(left, `after ${after}`).toEqual([])
        if (broken) {
          expect(() => runtime.ledger.append({ runId: 'x' as RunId, entries: [] })).toThrow(/./)
          expect(await codeOf(runtime.begin(document, { id: 's', inputs: {} }).result)).toBe(
            'ledger.poisoned'
          )
        }
        await runtime.close().catch(() => undefined)
        machine.disk.crash('power')
        const again = await machine.open({ blocks })
        expect(again.status().mode).toBe('ready')
        const resumed = again.begin(document, { id: 'r', inputs: {} })
        await until(async () => {
          const [wait] = await resumed.waits()
          if (wait !== undefined) await resumed.approve(wait.token, { digest: wait.digest })
          const [decision] = await resumed.waits()
          if (decision?.reason === 'decision') {
            const { token, digest } = decision
            await resumed.resume(token, { digest, action: 'resume', value: 'pay' })
          }
          return again.run('r')?.status === 'done'
        })
        expect((await resumed.result).status).toBe('done')
        await again.close()
      }
    }
  })

  it('D2: a reader that comes while the end is on its way hears it when durable', async () => {
    const machine = new Machine()
    const runtime = await machine.open({ blocks: blocksOf(new Witness()) })
    machine.disk.failCommits({ after: 0, times: 1, fault: 'sync_failed' })
    const single = { ...(document as object), nodes: { pure: { block: 'pure' } }, transitions: {} }
    const run = runtime.begin(single as Json, { id: 'r', inputs: {} })
    const told: string[] = []
    for (let turn = 0; turn < 60; turn += 1) {
      void (async () => {
        for await (const event of run) told.push(event.type)
      })().catch(() => undefined)
      await (turn % 6 === 5 ? new Promise(setImmediate) : Promise.resolve())
    }
    expect(await codeOf(run.result)).toBe('ledger.poisoned')
    expect(told).toEqual([])
    await runtime.close().catch(() => undefined)
  })
})
