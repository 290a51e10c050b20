import { describe, expect, it } from 'vitest'
import type { PlanDefinition } from '../../../../src/block/index.js'
import { Literals } from '../../../../src/block/run/payload-texts.js'
import { canonicalize, type Json } from '../../../../src/core/index.js'

const spec = { z: [1, { b: 2, a: 'x' }], a: null }
const ordered = { a: 1, b: ['y'] }

describe('Literals', () => {
  it('gives the texts that the general encoder gives, for literals only', () => {
    const literals = literalsOf(definition())
    expect(literals.get(spec)).toBe(canonicalize(spec))
    expect(literals.get({ ...spec })).toBeUndefined()
    const payload = { spec, given: { n: 1 }, list: [ordered, { ordered }] }
    expect(canonicalize(payload, literals)).toBe(canonicalize(payload))
  })

  it('D4: copies a payload as its canonical JSON reads, and keeps the literals in it', () => {
    const literals = literalsOf(definition())
    const payload = { spec, list: [ordered, { z: 1, a: -0 }], given: 'x', '10': 1, '9': 2 }
    const copy = literals.copyOf(payload) as unknown as typeof payload
    expect(JSON.stringify(copy)).toBe(JSON.stringify(JSON.parse(canonicalize(payload))))
    expect(copy.list[0]).toBe(ordered)
    expect(copy.list[1]).not.toBe(payload.list[1])
    // Its members stood in another order: one copy serves every payload.
    expect(copy.spec).not.toBe(spec)
    expect((literals.copyOf({ spec }) as unknown as typeof payload).spec).toBe(copy.spec)
  })

  it('has none where the inputs of nodes have none', () => {
    expect(literalsOf(definition({ ref: 'request.payload' })).isEmpty).toBe(true)
    expect(literalsOf(definition()).isEmpty).toBe(false)
  })
})

function definition(
  input: Json = { object: { spec: { lit: spec }, list: { array: [{ lit: ordered }] } } }
): PlanDefinition {
  const work = { kind: 'block', block: 'a' } as const
  const node = {
    id: 'a',
    work,
    input,
    deps: [],
    context: [],
    recovery: [],
    onError: 'stop'
  } as const
  return {
    schema: 'tally-plan/1',
    name: 'a',
    version: '1.0.0',
    order: 'arrival',
    parallel: true,
    atomic: false,
    lanes: {},
    nodes: [node]
  }
}

function literalsOf({ nodes }: PlanDefinition): Literals {
  return new Literals(nodes.map(({ input }) => input))
}
