import { expect, it } from 'vitest'
import { defineBlock } from '../../../../src/block/index.js'
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
