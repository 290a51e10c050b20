import fc from 'fast-check'
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

  it('D4: hands over what reads as its canonical JSON, part by part', () => {
    const literals = literalsOf(definition())
    const whole = { given: { a: [1, { b: 'x' }], c: null }, list: [ordered] }
    expect(literals.copyOf(whole)).toBe(whole)
    const parts = { list: [ordered], given: { n: 1 } }
    const copy = literals.copyOf(parts) as unknown as typeof parts
    expect([copy === parts, copy.list === parts.list]).toEqual([false, true])
    expect(copy.given).toBe(parts.given)
    const own: Json = JSON.parse('{"__proto__":{"b":1,"a":2},"z":[-0]}')
    const asWritten = JSON.stringify(JSON.parse(canonicalize(own)))
    expect(JSON.stringify(literals.copyOf(own))).toBe(asWritten)
    expect(Object.getPrototypeOf(literals.copyOf(own))).toBe(Object.prototype)
  })

  it('D4: copies any payload as its canonical JSON reads, and changes none', () => {
    const literals = literalsOf(definition())
    const keys = fc.constantFrom('a', 'b', '10', '9', '__proto__', 'é', 'Z')
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<Json>(0, -0, 1.5, 'x', null, true, ordered, spec),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(keys, tie('value'), { maxKeys: 4, noNullPrototype: true })
      )
    }))
    fc.assert(
      fc.property(value, (payload) => {
        const before = canonicalize(payload)
        const copy = literals.copyOf(payload)
        expect(copy).toEqual(JSON.parse(before))
        expect(JSON.stringify(copy)).toBe(JSON.stringify(JSON.parse(before)))
        expect(canonicalize(payload)).toBe(before)
      })
    )
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
