import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import { type Json, limits } from '../../../../src/core/index.js'
import { createRuntime } from '../../../../src/runtime/index.js'

const step = defineBlock({ name: 'step', version: '1.0.0', run: () => null })

const head = { version: '1.0.0' }
const nowhere = { ref: 'nodes.gone.response' }

/** A composite whose one node reads what is not there. */
const used = {
  ...{ schema: 'tally-composite/1', name: 'used', ...head },
  ...{ entry_point: 'a', nodes: { a: { block: 'step', input: nowhere } } }
}

/** What `lint` says of a document, beside one that others use. */
async function doubts(document: Json): Promise<readonly string[]> {
  await using tally = await createRuntime({
    ...{ location: 'memory:', blocks: [step], composites: [used] }
  })
  const found = await tally.lint(document)
  return found.map(({ reason, path, message }) => `${reason} ${path.join('.')}: ${message}`)
}

describe('references that lead nowhere', () => {
  it('are told of a plan, of its conditions and of composites within', async () => {
    const inner = {
      ...{
        entry_point: 'x',
        nodes: { x: { block: 'step' }, y: { block: 'step', input: nowhere } }
      },
      transitions: {
        x: [
          { condition: { cel: 'response.dat == 1' }, target: 'y' },
          { condition: 'default', target: 'y' },
          { condition: { cel: 'response.dat == 2' }, target: 'y' },
          { condition: { cel: 'is not CEL' }, target: 'y' }
        ]
      },
      output: { ref: 'nodes.first.response' }
    }
    const found = await doubts({
      ...{ schema: 'tally-plan/1', name: 'outer', ...head },
      nodes: [
        { id: 'first', block: 'step', confirm: { when: { cel: 'request.payloads == 1' } } },
        { id: 'second', deps: ['first'], composite: inner },
        { id: 'third', deps: ['second'], block: 'step', input: { ref: 'nodes.second.data' } }
      ],
      output: { object: { a: { ref: 'nodes.first.response' }, b: { ref: 'request.payment' } } }
    })
    const where = found
      .filter((one) => one.includes('leads nowhere'))
      .map((one) => one.split(':')[0])
    expect(where.toSorted()).toEqual([
      'lint nodes.0.confirm.when',
      'lint nodes.1.composite.nodes.y.input',
      'lint nodes.1.composite.output',
      'lint nodes.1.composite.transitions.x.0.condition',
      'lint nodes.1.composite.transitions.x.2.condition',
      'lint nodes.2.input',
      'lint output'
    ])
  })

  it('are not told of a document that this one uses, and are told of that itself', async () => {
    const nodes = [{ id: 'a', use: 'used' }]
    const outer = { schema: 'tally-plan/1', name: 'outer', ...head, nodes }
    expect(await doubts(outer)).toEqual([])
    expect(await doubts(used)).toEqual([
      expect.stringMatching(/^lint nodes\.a\.input: nodes\.gone leads nowhere/)
    ])
  })

  it('are told again of a document that was compiled before', async () => {
    await using tally = await createRuntime({ location: 'memory:', blocks: [step] })
    const first = await tally.lint(used)
    expect(first).toHaveLength(1)
    expect(await tally.lint(structuredClone(used))).toEqual(first)
  })

  it('are doubts, of which a report shows as many as it shows of anything', async () => {
    const count = limits.DOCUMENT_FINDINGS_MAX + 20
    const nodes = Array.from({ length: count }, (_, index) => {
      return { id: `n${index}`, block: 'step', input: { ref: 'request.payments' } }
    })
    const found = await doubts({ schema: 'tally-plan/1', name: 'many', ...head, nodes })
    expect(found).toHaveLength(limits.DOCUMENT_FINDINGS_MAX + 1)
    expect(found.at(-1)).toBe('lint : 20 more findings are not shown')
  })
})
