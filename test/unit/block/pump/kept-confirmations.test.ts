import { expect, it } from 'vitest'
import { defineBlock, EffectFailure } from '../../../../src/code/index.js'
import type { Json } from '../../../../src/core/index.js'
import type { RunHandle, WiredRuntime } from '../../../../src/runtime/index.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../../../support/ledger-on-disk.js'

let disk: LedgerOnDisk

ledgerForEachTest((made) => {
  disk = made
})

/** Fails but at its third attempt; `looked` is called while each is under way. */
function flaky(looked: () => void = () => undefined) {
  return defineBlock({
    name: 'flaky',
    version: '1.0.0',
    sideEffects: 'none',
    run: (ctx) =>
      ctx.effect('look', {
        request: ctx.attempt,
        perform: () => {
          looked()
          if (ctx.attempt < 3) throw new EffectFailure('not_yet', { definite: true })
          return 'seen'
        }
      })
  })
}

const confirmed = {
  ...{ block: 'flaky', confirm: true },
  recovery: [{ retry: { max_attempts: 3 } }]
}
const head = { schema: 'tally-plan/1', name: 'retries', version: '1.0.0' }

async function approveAll(run: RunHandle): Promise<void> {
  for await (const event of run) {
    if (event.type === 'waiting') await run.approve(event.token, { digest: event.digest })
  }
}

/** How often the answer to its confirmation is recorded for each attempt of a node. */
async function confirmationsOf(tally: WiredRuntime, id: string) {
  const counts = new Map<string, number>()
  for await (const { value } of tally.journal(id)) {
    const { k, seq, path, attempt } = value as Readonly<Record<string, Json>>
    const name = `${path} ${attempt}`
    if (k === 'sealed' && seq === 0) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return Object.fromEntries(counts)
}

it('D6: records once what a retry keeps, also where the process stopped before it', async () => {
  let closing: Promise<void> | undefined
  const first: WiredRuntime = await disk.open({
    blocks: [
      flaky(() => {
        closing ??= first.close()
      })
    ]
  })
  const run = first.begin({ ...head, nodes: [{ id: 'a', ...confirmed }] }, { id: 'one' })
  run.result.catch(() => undefined)
  await approveAll(run)
  await closing
  const next = await disk.open({ blocks: [flaky()] })
  const resumed = await next.resume('one')
  expect(await resumed.result).toMatchObject({ status: 'done' })
  const once = { 'root/a 1': 1, 'root/a 2': 1, 'root/a 3': 1 }
  expect(await confirmationsOf(next, 'one')).toEqual(once)
  expect(await next.verify()).toMatchObject({ ok: true, complete: true })
})

it('D3: records once what a retry keeps, while other steps have something to say', async () => {
  const tally = await disk.open({ blocks: [flaky()] })
  const plain = { block: 'flaky', recovery: confirmed.recovery }
  const nodes = ['a', 'b', 'c', 'd'].map((id) => ({ id, ...(id < 'c' ? confirmed : plain) }))
  const run = tally.begin({ ...head, nodes }, { id: 'side-by-side' })
  await approveAll(run)
  expect(await run.result).toMatchObject({ status: 'done' })
  const counts = Object.values(await confirmationsOf(tally, 'side-by-side'))
  expect(counts).toEqual([1, 1, 1, 1, 1, 1])
  expect(await tally.verify()).toMatchObject({ ok: true, complete: true })
})
