import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import { Compilations, type Registrations } from '../../../../src/runtime/index.js'
import { compositeDocument } from '../../../support/composites.js'
import { openOn } from '../../../support/lives.js'

const says = (text: string, sideEffects: 'none' | 'idempotent' = 'none') =>
  defineBlock({ name: 'says', version: '1.0.0', sideEffects, run: () => text })

const document = compositeDocument({ nodes: { say: { block: 'says' } } })

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

  it('read a text once, and anew where a room that the host brings may read it', async () => {
    const compilations = new Compilations()
    const text = JSON.stringify(document)
    const parsedWith = async (hosts: Partial<Registrations>) => {
      const given = { blocks: [says('first')], compilations, ...hosts }
      const runtime = await openOn(openMemoryStore(), given)
      const parsed = await runtime.registry.documents.parse(text)
      await runtime.close()
      return parsed
    }
    const first = await parsedWith({})
    expect(first.ok).toBe(true)
    expect(await parsedWith({})).toBe(first)
    const hosted = await parsedWith({ workflow: {} })
    expect(hosted).not.toBe(first)
    expect(hosted).toEqual(first)
  })

  it('keep nothing of a text that only a room can read', async () => {
    const compilations = new Compilations()
    const text = JSON.stringify({ schema: 'ais-flow/1.0' })
    const given = { blocks: [says('first')], compilations }
    const runtime = await openOn(openMemoryStore(), given)
    const { documents } = runtime.registry
    const first = await documents.parse(text)
    const again = await documents.parse(text)
    await runtime.close()
    expect(compilations.parsed(text)).toBeUndefined()
    expect(again).toEqual(first)
  })

  it('write the text by which a chart is known as one that was never shared has it', async () => {
    const compilations = new Compilations()
    const given = { blocks: [says('first')], compilations }
    const runtime = await openOn(openMemoryStore(), given)
    const parsed = await runtime.registry.documents.parse(JSON.stringify(document))
    await runtime.close()
    if (!parsed.ok) throw new Error('it does not parse')
    const { definition } = parsed
    const terms = { definition, pins: undefined, obligations: undefined }
    const other = new Compilations().compiledFrom({ ...terms, definition: { ...definition } })
    expect(compilations.compiledFrom(terms)).toBe(other)
  })
})
