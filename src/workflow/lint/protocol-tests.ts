import { z } from 'zod-pinned'
import {
  checkingSchema,
  isJsonObject,
  isSliceFull,
  type Json,
  type JsonObject,
  type Pieces,
  shownText
} from '../../core/index.js'
import type { Issues } from '../document/issue.js'
import { parsingRead } from '../document/parse.js'
import { type ProtocolDocument, protocolKey } from '../document/protocol.js'
import type { AisPlanNode } from '../plan/plan.js'
import { planningFlow } from '../plan/planner.js'
import { policyVerdict } from '../policy/gate.js'
import { defaultPolicy } from '../policy/policy.js'
import { nodeReadiness, type Readiness } from '../readiness/readiness.js'
import { prepareRuntime } from '../readiness/runtime.js'
import type { CompileValues } from '../value/compile.js'

const values = z.record(z.string(), z.json())

/** One test of a protocol: an action or query with arguments, and what has to come of it. */
const protocolTest = z
  .strictObject({
    name: z.string().max(1_000).optional(),
    description: z.string().max(1_000).optional(),
    action: z.string().optional(),
    query: z.string().optional(),
    chain: z.string(),
    params: values.default({}),
    ctx: values.default({}),
    contracts: values.default({}),
    expect: z
      .strictObject({
        params: values.optional(),
        calculated: values.optional(),
        execution: values.optional(),
        effects: z.array(values).optional(),
        error: z.string().optional()
      })
      .refine((all) => Object.keys(all).length > 0, 'expects nothing')
  })
  .refine(({ action, query }) => (action === undefined) !== (query === undefined), {
    message: 'names either an action or a query'
  })

type ProtocolTest = z.output<typeof protocolTest>

/**
 * Carries out the tests of a protocol: without a chain, as far as values go. One that comes out
 * otherwise is an error. AIS leaves the form of tests open: those of another form are named.
 */
export function* checkingProtocolTests(
  protocol: ProtocolDocument,
  compile: CompileValues,
  found: Issues
): Pieces<void> {
  for (const [index, given] of (protocol.tests ?? []).entries()) {
    const here = found.below(['tests', index])
    const parsed = yield* checkingSchema(protocolTest, given)
    if (!parsed.success) {
      const [issue] = parsed.issues
      const where = issue?.path.map(String).join('.') ?? ''
      const problem = `${where === '' ? '' : `${where}: `}${issue?.message ?? 'is invalid'}`
      here.note('not_checked', `a test of another form is not carried out: ${problem}`)
      continue
    }
    const { name, action, query } = parsed.data
    const called = name ?? action ?? query ?? ''
    for (const problem of yield* problemsOf(protocol, parsed.data, compile)) {
      here.error('test_failed', `the test of ${called} fails: ${problem}`)
    }
    if (isSliceFull()) yield
  }
}

const NODE = 'tested'

function* problemsOf(
  protocol: ProtocolDocument,
  test: ProtocolTest,
  compile: CompileValues
): Pieces<readonly string[]> {
  const { action, query, chain, params, ctx, contracts, expect } = test
  const args = Object.fromEntries(Object.entries(params).map(([name, lit]) => [name, { lit }]))
  const called =
    action === undefined ? { type: 'query_ref', query } : { type: 'action_ref', action }
  const value = {
    schema: 'ais-flow/0.0.3',
    meta: { name: NODE, version: '1.0.0' },
    nodes: [{ id: NODE, protocol: protocolKey(protocol), chain, args, ...called }]
  } as unknown as Json
  const flow = yield* parsingRead('flow', { value })
  if (!flow.ok) return [flow.issues[0]?.message ?? 'it is no node']
  const options = { flow: flow.document, protocols: [protocol], values: compile }
  const planned = yield* planningFlow(options)
  if (!planned.ok) {
    const errors = planned.issues.filter(({ severity }) => severity === 'error')
    const isMeant = errors.some(({ code }) => code === expect.error)
    return isMeant ? [] : errors.slice(0, 1).map(({ code, message }) => `${code}: ${message}`)
  }
  const [prepared, node] = [
    prepareRuntime(planned.plan, { ctx, contracts }),
    planned.plan.nodes.find(({ id }) => id === NODE)
  ]
  if (!prepared.ok || node === undefined) return ['it comes to no node']
  return differences(node, nodeReadiness(node, prepared.runtime, compile), expect)
}

function differences(
  node: AisPlanNode,
  found: Readiness,
  expect: ProtocolTest['expect']
): readonly string[] {
  const errors = found.state === 'failed' ? found.errors : []
  if (expect.error !== undefined) {
    if (errors.some(({ code }) => code === expect.error)) return []
    const came = errors.length > 0 ? errors.map(({ code }) => code).join(', ') : found.state
    return [`expected the error ${expect.error}, and it is ${came}`]
  }
  if (found.state !== 'ready') {
    const why = errors.map(({ place, message }) => `${place}: ${message}`)
    const missing = found.state === 'blocked' ? found.missingRefs : []
    return [`it is ${found.state}: ${[...why, ...missing].join('; ')}`]
  }
  const { params, calculated, execution } = found
  const effects = policyVerdict(node, found, defaultPolicy).measured?.effects ?? null
  const got = { params, calculated, execution, effects } as unknown as JsonObject
  return Object.entries(expect).flatMap(([part, wanted]) =>
    unlike(wanted as Json, got[part] ?? null, part)
  )
}

/** Where something is not as expected; members that are not named are not looked at. */
function unlike(wanted: Json, got: Json, place: string): readonly string[] {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(got) || got.length !== wanted.length) {
      return [`${place} is ${shownText(got)}, expected ${shownText(wanted)}`]
    }
    return wanted.flatMap((one: Json, index) =>
      unlike(one, got[index] ?? null, `${place}.${index}`)
    )
  }
  if (isJsonObject(wanted) && isJsonObject(got)) {
    return Object.entries(wanted).flatMap(([name, one]) =>
      unlike(one, got[name] ?? null, `${place}.${name}`)
    )
  }
  // Amounts are text; a test may write a small one as a number.
  const isSame = wanted === got || (typeof wanted === 'number' && String(wanted) === got)
  return isSame ? [] : [`${place} is ${shownText(got)}, expected ${shownText(wanted)}`]
}
