import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../../src/code/index.js'
import type { Json } from '../../../src/core/index.js'
import { recorded, rewritten } from '../../support/rewrite.js'

const blocks = (['none', 'idempotent', 'non_idempotent'] as const).map((sideEffects) =>
  defineBlock({ name: sideEffects, version: '1.0.0', sideEffects, run: () => sideEffects })
)

function composite(nodes: Json): Json {
  const head = { schema: 'tally-composite/1', name: 'classes', version: '1' }
  return { ...head, entry_point: 'first', nodes }
}

const retried = [{ retry: { max_attempts: 2 } }]

/** Documents, and the classes that their charts ask for. */
const documents: readonly (readonly [what: string, document: Json, classes: Json | undefined])[] = [
  ['a composite without recovery', composite({ first: { block: 'none' } }), undefined],
  [
    'a composite with recovery',
    composite({
      first: { block: 'none@1.0.0', recovery: retried },
      other: { block: 'idempotent' }
    }),
    { 'none@1.0.0': 'none', idempotent: 'idempotent' }
  ],
  [
    'a node with a class of its own',
    composite({ first: { block: 'none', side_effects: 'idempotent', recovery: retried } }),
    undefined
  ],
  [
    'a composite inside',
    composite({
      first: {
        composite: { entry_point: 'in', nodes: { in: { block: 'none' } } },
        recovery: retried
      }
    }),
    { none: 'none' }
  ],
  [
    'a plan',
    {
      schema: 'tally-plan/1',
      name: 'classes',
      version: '1',
      nodes: [
        { id: 'a', block: 'none' },
        { id: 'b', block: 'non_idempotent', deps: ['a'] }
      ]
    },
    { none: 'none', non_idempotent: 'non_idempotent' }
  ]
]

describe('side-effect classes in the first entry of a run', () => {
  it.each(documents)('are those that the charts of %s decide by', async (_, document, classes) => {
    const found = await recordedRun(document)
    expect(found.report.failure).toBeUndefined()
    const [entry = '{}'] = found.items[0]?.entries ?? []
    expect(JSON.parse(entry).classes).toEqual(classes)
  })

  it('are compared with those of the code, and may be absent as in 0.1.0', async () => {
    const found = await recordedRun(documents[1]?.[1] ?? null)
    const forged = await rewritten(found, (entry) => {
      if (entry['k'] === 'run.started') entry['classes'] = { idempotent: 'none' }
    })
    expect(forged.failure?.field).toBe('journal.classes')
    const old = await rewritten(found, (entry) => void delete entry['classes'])
    expect(old.failure).toBeUndefined()
  })
})

function recordedRun(document: Json) {
  return recorded({ blocks }, async (tally) => {
    await tally.begin(document, { id: 'classes' }).result
  })
}
