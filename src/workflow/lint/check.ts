import {
  DocumentWork,
  isJsonObject,
  isTallyError,
  type Json,
  placesIn,
  readDocument
} from '../../core/index.js'
import { checkProtocol } from '../document/check-protocol.js'
import { type FlowDocument, flowSchemaNames } from '../document/flow.js'
import { type Issue, Issues, reportedIssues } from '../document/issue.js'
import { type PackDocument, packSchemaName } from '../document/pack.js'
import { parseFlow, parsePack, parseProtocol } from '../document/parse.js'
import { type ProtocolDocument, protocolSchemaName } from '../document/protocol.js'
import { type PlanResult, planFlow } from '../plan/planner.js'
import { valuesFor } from '../value/plain.js'
import { lintFlow } from './lint.js'

/** What checking one document of AIS found; `plan` for a workflow that can be planned. */
export interface CheckedDocument {
  readonly kind: 'flow' | 'protocol' | 'pack'
  readonly issues: readonly Issue[]
  readonly plan?: PlanResult & { readonly ok: true }
  readonly document?: FlowDocument | ProtocolDocument | PackDocument
}

const schemas: ReadonlySet<string> = new Set([
  ...flowSchemaNames,
  protocolSchemaName,
  packSchemaName
])

/** Whether a document that was read says that it is one of AIS. */
export function isAisDocument(value: Json): boolean {
  const schema = isJsonObject(value) ? value['schema'] : undefined
  return typeof schema === 'string' && /^ais(-[a-z]+)?\//.test(schema)
}

/**
 * Checks the text of a workflow, protocol or pack: what is wrong, and what is doubtful. A workflow
 * is planned with the given protocols, and under a pack if there is one.
 */
export async function checkAisDocument(
  text: string,
  given: {
    readonly protocols?: readonly ProtocolDocument[]
    readonly pack?: PackDocument
    readonly defaultChain?: string
  } = {}
): Promise<CheckedDocument> {
  const schema = schemaOf(text)
  if (schema === protocolSchemaName) return checkOneProtocol(text)
  if (schema === packSchemaName) {
    const parsed = parsePack(text)
    if (!parsed.ok) return { kind: 'pack', issues: parsed.issues }
    return { kind: 'pack', issues: [], document: parsed.document }
  }
  return checkFlow(text, given)
}

function schemaOf(text: string): string | undefined {
  const value = readDocument(text)
  const schema = isJsonObject(value) ? value['schema'] : undefined
  return typeof schema === 'string' && schemas.has(schema) ? schema : undefined
}

function checkOneProtocol(text: string): CheckedDocument {
  const parsed = parseProtocol(text)
  if (!parsed.ok) return { kind: 'protocol', issues: parsed.issues }
  const found: Issue[] = []
  checkProtocol(parsed.document, new Issues(found))
  return { kind: 'protocol', issues: withPlaces(found, text), document: parsed.document }
}

async function checkFlow(
  text: string,
  given: Parameters<typeof checkAisDocument>[1] = {}
): Promise<CheckedDocument> {
  const parsed = parseFlow(text)
  if (!parsed.ok) return { kind: 'flow', issues: parsed.issues }
  const { document } = parsed
  const { protocols = [], pack, defaultChain } = given
  const values = await valuesFor(document, ...protocols)
  const check = (): CheckedDocument => {
    const planned = planFlow({
      flow: document,
      protocols,
      values,
      ...(pack === undefined ? {} : { pack }),
      ...(defaultChain === undefined ? {} : { defaultChain })
    })
    if (!planned.ok) return { kind: 'flow', issues: withPlaces(planned.issues, text), document }
    const { plan, resolved } = planned
    const doubts = lintFlow({ flow: document, plan, resolved, values })
    const issues = withPlaces([...planned.issues, ...doubts], text)
    return { kind: 'flow', issues, plan: planned, document }
  }
  try {
    return new DocumentWork().during(check)
  } catch (error) {
    if (!isTallyError(error, 'document.too_much_work')) throw error
    const { message } = error
    const issue: Issue = { code: 'too_much_work', severity: 'error', path: [], message }
    return { kind: 'flow', issues: [issue], document }
  }
}

function withPlaces(issues: readonly Issue[], text: string): readonly Issue[] {
  return reportedIssues(issues, placesIn(text))
}

/** `name@version` of the protocols that a workflow's nodes use. */
export function protocolsNeeded(flow: FlowDocument): readonly string[] {
  return [...new Set(flow.nodes.map(({ protocol }) => protocol))].sort()
}
