import { expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import { type Json, systemRandom } from '../../../../src/core/index.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import { openOn } from '../../../support/lives.js'

const takes = defineBlock({
  name: 'takes',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx) => ctx.signal('item')
})
const document: Json = {
  schema: 'tally-composite/1',
  name: 'order',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block: 'takes' } }
}

it('K13: the owner alone sends signals, and what a sender is called is claimed', async () => {
  await using tally = await openOn(openMemoryStore(), { blocks: [takes], random: systemRandom })
  await tally.start(document, { id: 'a' })
  const { signal } = new AbortController()
  const ask = async (params: Json) => tally.service({ method: 'signal', params, signal })
  const asAgent = ask({ id: 'a', name: 'item', value: 1, agent: 'helper' })
  await expect(asAgent).rejects.toMatchObject({ code: 'service.invalid_params' })
  const sent = { id: 'a', name: 'item', value: 1, signalId: 'one', by: 'shop' }
  expect(await ask(sent)).toEqual({ accepted: true })
  expect(await ask(sent)).toEqual({ accepted: true, repeated: true })
  await (await tally.attach('a')).result
  const entries: Json[] = []
  for await (const { value } of tally.journal('a')) entries.push(value)
  const by = { kind: 'owner', id: 'local', claimed: 'shop' }
  expect(entries).toContainEqual(expect.objectContaining({ k: 'signal', name: 'item', by }))
  const body = expect.objectContaining({ action: 'signal', by, id: 'one', value: 1 })
  expect(entries).toContainEqual(expect.objectContaining({ k: 'sealed', body }))
})

const asks = defineBlock({
  name: 'asks',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx) => ctx.wait({ reason: 'external', request: 'Well?' }).then(() => null)
})

it('K14: an agent that may answer sees the runs that wait for an answer, none for a signal', async () => {
  await using tally = await openOn(openMemoryStore(), {
    blocks: [takes, asks],
    random: systemRandom
  })
  const nodes = { a: { block: 'asks' } }
  await tally.start(document, { id: 'signal' })
  await tally.start({ ...document, nodes }, { id: 'answer' })
  for (const id of ['signal', 'answer']) {
    for await (const { type } of await tally.attach(id)) if (type === 'run.parked') break
  }
  const { signal } = new AbortController()
  const by = { agent: 'helper', answers: true }
  const ask = async (method: string, params: Json) => tally.service({ method, params, signal })
  const seen: unknown[] = []
  const runs = tally.service({ method: 'runs', params: by, signal }) as AsyncIterable<Json>
  for await (const run of runs) seen.push((run as { readonly id: string }).id)
  expect(seen).toEqual(['answer'])
  expect(await ask('show', { id: 'answer', ...by })).toMatchObject({ id: 'answer' })
  await expect(ask('show', { id: 'signal', ...by })).rejects.toMatchObject({
    code: 'service.agent_reads_own'
  })
  expect(await ask('waits', by)).toMatchObject({ items: [{ runId: 'answer' }] })
  const [wait] = await (await tally.attach('signal')).waits()
  const given = { id: 'signal', token: wait?.token ?? '', digest: wait?.digest ?? '' }
  await expect(
    ask('message', { ...given, action: 'resume', agent: 'helper' })
  ).rejects.toMatchObject({ code: 'service.agent_refused' })
})
