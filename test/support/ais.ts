import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { Json } from '../../src/core/index.js'
import type { FlowDocument } from '../../src/workflow/document/flow.js'
import type { PackDocument } from '../../src/workflow/document/pack.js'
import { parseFlow, parsePack, parseProtocol } from '../../src/workflow/document/parse.js'
import type { ProtocolDocument } from '../../src/workflow/document/protocol.js'
import { type PlanResult, planFlow } from '../../src/workflow/plan/planner.js'
import { valuesFor } from '../../src/workflow/value/plain.js'

/** Documents of `test/vectors/ais/`: the seed's workflow and protocols for it. */
export function aisText(name: string): string {
  return readFileSync(new URL(`../vectors/ais/${name}.yaml`, import.meta.url), 'utf8')
}

export function flowOf(source: string | Json): FlowDocument {
  const parsed = parseFlow(source)
  if (!parsed.ok) expect(parsed.issues).toEqual([])
  return (parsed as { readonly document: FlowDocument }).document
}

export function protocolOf(source: string | Json): ProtocolDocument {
  const parsed = parseProtocol(source)
  if (!parsed.ok) expect(parsed.issues).toEqual([])
  return (parsed as { readonly document: ProtocolDocument }).document
}

export function packOf(source: string | Json): PackDocument {
  const parsed = parsePack(source)
  if (!parsed.ok) expect(parsed.issues).toEqual([])
  return (parsed as { readonly document: PackDocument }).document
}

export const seedProtocols = ['erc20', 'aave', 'some-bridge', 'jlp']

/** The seed's protocols, read. */
export function seedCatalogue(): readonly ProtocolDocument[] {
  return seedProtocols.map((name) => protocolOf(aisText(name)))
}

export async function planOf(
  source: string | Json,
  protocols: readonly ProtocolDocument[] = seedCatalogue(),
  pack?: PackDocument
): Promise<PlanResult> {
  const flow = flowOf(source)
  const values = await valuesFor(flow, ...protocols)
  return planFlow({ flow, protocols, values, ...(pack === undefined ? {} : { pack }) })
}

/** The plan of documents that are right. */
export async function goodPlan(
  source: string | Json,
  protocols?: readonly ProtocolDocument[]
): Promise<PlanResult & { readonly ok: true }> {
  const result = await planOf(source, protocols)
  expect(result.issues.filter(({ severity }) => severity === 'error')).toEqual([])
  return result as PlanResult & { readonly ok: true }
}

/** Codes of what is wrong with documents. */
export async function errorsOf(
  source: string | Json,
  protocols?: readonly ProtocolDocument[],
  pack?: PackDocument
): Promise<readonly string[]> {
  const { issues } = await planOf(source, protocols, pack)
  return issues.filter(({ severity }) => severity === 'error').map(({ code }) => code)
}
