import '../support/seed.js'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/core/index.js'
import { readDocument } from '../../src/core/index.js'
import { parseFlow, parsePack, parseProtocol } from '../../src/workflow/document/parse.js'
import type { ProtocolDocument } from '../../src/workflow/document/protocol.js'
import { planFlow, planText } from '../../src/workflow/plan/planner.js'
import type { CompileValues } from '../../src/workflow/value/compile.js'
import { valuesFor } from '../../src/workflow/value/plain.js'
import { aisText, flowOf, protocolOf, seedCatalogue } from '../support/ais.js'

/** What the plan of a workflow does not depend on, and what documents cannot do to the planner. */

const numRuns = process.env['SOAK'] === '1' ? 500 : 40
let values: CompileValues
let protocols: readonly ProtocolDocument[]
beforeAll(async () => {
  values = await valuesFor({ cel: '' })
  protocols = seedCatalogue()
})

/** The same document with the keys of every object in another order. */
function shuffled(value: Json, random: () => number): Json {
  if (Array.isArray(value)) return value.map((item: Json) => shuffled(item, random))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value as JsonObject).map(
    ([key, member]) => [random(), key, shuffled(member, random)] as const
  )
  entries.sort(([left], [right]) => left - right)
  return Object.fromEntries(entries.map(([, key, member]) => [key, member]))
}

/** The same workflow with noise that means nothing. */
function noisy(flow: JsonObject, random: () => number): JsonObject {
  const nodes = (flow['nodes'] as readonly JsonObject[]).map((node) => {
    const deps = (node['deps'] ?? []) as readonly string[]
    const twice = random() < 0.5 ? [...deps, ...deps] : [...deps].reverse()
    return { ...node, deps: twice, extensions: { note: Math.floor(random() * 10) } }
  })
  const order = nodes.map((node) => [random(), node] as const).sort(([a], [b]) => a - b)
  return { ...flow, nodes: order.map(([, node]) => node) as unknown as Json }
}

const chance = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
  minLength: 20,
  maxLength: 20
})

function dice(rolls: readonly number[]): () => number {
  let at = 0
  return () => rolls[at++ % rolls.length] ?? 0
}

describe('the plan of a workflow', () => {
  it('W2: is independent of key order, node order and noise of declarations', () => {
    const flow = readDocument(aisText('bridge')) as JsonObject
    const expected = planFlow({ flow: flowOf(flow), protocols, values })
    expect(expected.ok).toBe(true)
    fc.assert(
      fc.property(chance, (rolls) => {
        const random = dice(rolls)
        const changed = shuffled(noisy(flow, random), random)
        const others = [...protocols].reverse().map((protocol) => {
          const text = JSON.stringify(protocol)
          return protocolOf(shuffled(JSON.parse(text), random))
        })
        const planned = planFlow({ flow: flowOf(changed), protocols: others, values })
        expect(planned.ok && expected.ok && planText(planned.plan)).toBe(
          expected.ok && planText(expected.plan)
        )
      }),
      { numRuns }
    )
  })

  it('W2: has every dependency before the node that needs it', () => {
    const size = fc.integer({ min: 1, max: 12 })
    fc.assert(
      fc.property(
        size,
        fc.array(fc.tuple(fc.nat(11), fc.nat(11)), { maxLength: 30 }),
        (n, edges) => {
          const nodes = Array.from({ length: n }, (_, index) => ({
            id: `n${index}`,
            type: 'query_ref',
            protocol: 'erc20@0.0.2',
            query: 'balance',
            args: {
              token: { lit: { chain_id: 'eip155:1', address: `0x${'a'.repeat(40)}` } },
              owner: { lit: `0x${'b'.repeat(40)}` }
            },
            deps: edges
              .filter(([from, to]) => from === index && to !== from && to < n)
              .map(([, to]) => `n${to}`)
          }))
          const flow = flowOf({
            schema: 'ais-flow/0.0.2',
            meta: { name: 'x', version: '1.0.0' },
            default_chain: 'eip155:1',
            nodes
          })
          const planned = planFlow({ flow, protocols, values })
          if (!planned.ok) {
            expect(planned.issues.map(({ code }) => code)).toEqual(['cycle'])
            return
          }
          const done = new Set<string>()
          for (const node of planned.plan.nodes) {
            expect(node.deps.every((dep) => done.has(dep))).toBe(true)
            done.add(node.id)
          }
          expect(done.size).toBe(n)
        }
      ),
      { numRuns }
    )
  })
})

describe('hostile documents', () => {
  it('are refused with issues, never with an exception', () => {
    const texts = [aisText('bridge'), aisText('erc20'), aisText('aave')]
    const documents = texts.map((text) => readDocument(text) as JsonObject)
    const junk = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('nodes.a', '__proto__', { cel: '((((' }, { ref: '..' }, { lit: null }, -1, [])
    )
    fc.assert(
      fc.property(fc.nat(2), fc.array(fc.nat(6), { maxLength: 6 }), junk, (which, way, value) => {
        const changed = replacedAt(documents[which] ?? {}, way, value as Json)
        const flow = parseFlow(changed)
        const protocol = parseProtocol(changed)
        expect(parsePack(changed).ok).toBe(false)
        if (flow.ok) {
          const planned = planFlow({ flow: flow.document, protocols, values })
          expect(planned.ok || planned.issues.length > 0).toBe(true)
        }
        if (protocol.ok) {
          const others = [protocol.document, ...protocols]
          const planned = planFlow({ flow: flowOf(documents[0] ?? {}), protocols: others, values })
          expect(planned.ok || planned.issues.length > 0).toBe(true)
        }
      }),
      { numRuns: numRuns * 5 }
    )
  })
})

/** A copy with another value at a place that a list of numbers leads to. */
function replacedAt(value: Json, [step, ...rest]: readonly number[], by: Json): Json {
  if (step === undefined || typeof value !== 'object' || value === null) return by
  if (Array.isArray(value)) {
    const at = value.length === 0 ? 0 : step % value.length
    return value.map((item: Json, index) => (index === at ? replacedAt(item, rest, by) : item))
  }
  const keys = Object.keys(value)
  const key = keys[step % Math.max(1, keys.length)]
  if (key === undefined) return by
  return { ...value, [key]: replacedAt((value as JsonObject)[key] ?? null, rest, by) }
}
