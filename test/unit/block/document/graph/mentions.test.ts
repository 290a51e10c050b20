import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { findingMentions } from '../../../../../src/block/chart/expressions.js'
import type { Json } from '../../../../../src/core/index.js'
import { atOnce } from '../../../../../src/core/index.js'
import { type Expressions, loadExpressions } from '../../../../../src/expression/index.js'
import { createRuntime, defineBlock } from '../../../../../src/index.js'

let expressions: Expressions
beforeAll(async () => {
  expressions = await loadExpressions()
})

const read = (value: Json) =>
  atOnce(findingMentions([expressions.compileValue(value, { roots: ['request', 'nodes'] })]))

const names = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/)
const escaped = (name: string) =>
  [...name].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')

/** Ways to write the response of a node whose name a reader of the text alone would miss. */
const spellings: readonly ((name: string) => string)[] = [
  (name) => `nodes["${name}"].response.data`,
  (name) => `nodes['${name}'].response.data`,
  (name) => `nodes["${escaped(name)}"].response.data`,
  (name) => `nodes["" + "${name}"].response.data`,
  (name) => `nodes[request.payload.name].response.data + (false ? "${name}" : "")`,
  (name) => `[nodes].map(all, all["${name}"].response.data)[0]`
]

describe('the responses that a value reads', () => {
  it('are found in the syntax tree, however the name is written', () => {
    fc.assert(
      fc.property(names, fc.constantFrom(...spellings), (name, spell) => {
        const found = read({ object: { deep: { array: [{ cel: spell(name) }] } } })
        expect(found.all || found.names.has(name)).toBe(true)
      })
    )
  })

  it('are only those: words in texts and members of the same name do not count', () => {
    expect(read({ cel: 'nodes.a.response.data.b + "nodes.c"' })).toEqual({
      all: false,
      names: new Set(['a'])
    })
    expect(read({ lit: 'nodes.a' })).toEqual({ all: false, names: new Set() })
    expect(read({ cel: 'nodes.all(n, true)' })).toEqual({ all: true })
    expect(read({ ref: 'nodes' })).toEqual({ all: true })
  })

  it('reach the value that reads them in every spelling, live and in replay', async () => {
    const say = defineBlock({ name: 'say', version: '1', sideEffects: 'none', run: () => 'said' })
    await using tally = await createRuntime({ location: 'memory:', blocks: [say] })
    for (const [index, spell] of spellings.entries()) {
      const document = {
        schema: 'tally-composite/1',
        name: 'spelled',
        version: '1',
        entry_point: 'first',
        nodes: { first: { block: 'say' } },
        output: { cel: spell('first') }
      }
      const run = tally.begin(document, { id: `run-${index}`, inputs: { name: 'first' } })
      expect((await run.result).response.data).toBe('said')
    }
    expect(await tally.verify()).toMatchObject({ ok: true })
  })
})
