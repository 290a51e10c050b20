import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../../../src/block/index.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import { Compilations } from '../../../../src/runtime/index.js'
import { openOn } from '../../../support/lives.js'

const says = (text: string, sideEffects: 'none' | 'idempotent' = 'none') =>
  defineBlock({ name: 'says', version: '1.0.0', sideEffects, run: () => text })

const document = {
  schema: 'tally-composite/1',
  name: 'saying',
  version: '1.0.0',
  entry_point: 'say',
  nodes: { say: { block: 'says' } }
}

async function compiledBy(compilations: Compilations, block: ReturnType<typeof says>) {
  const runtime = await openOn(openMemoryStore(), { blocks: [block], compilations })
  const prepared = await runtime.registry.documents.prepare(document)
  const { response } = await runtime.begin(document, { id: 'r', inputs: {} }).result
  await runtime.close()
  if (!prepared.ok) throw new Error('it does not compile')
  return { compiled: prepared.compiled, root: prepared.root, said: response.data }
}

describe('registries that share what was compiled', () => {
  it('have one chart where every name leads to the same code, and only there', async () => {
    const compilations = new Compilations()
    const block = says('first')
    const first = await compiledBy(compilations, block)
    const again = await compiledBy(compilations, block)
    const other = await compiledBy(compilations, says('second', 'idempotent'))
    expect(again.compiled).toBe(first.compiled)
    expect(again.root.pins).toEqual(first.root.pins)
    expect(other.compiled).not.toBe(first.compiled)
    expect([first.said, again.said, other.said]).toEqual(['first', 'first', 'second'])
  })
})
