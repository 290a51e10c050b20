import { DocumentWork, isJsonObject, isTallyError, type Json } from '../../core/index.js'
import { checkProtocol } from '../document/check-protocol.js'
import type { FlowDocument } from '../document/flow.js'
import { type Issue, Issues, reportedIssues } from '../document/issue.js'
import type { PackDocument } from '../document/pack.js'
import { type AisKind, kindOf, parseRead, type ReadDocument, readText } from '../document/parse.js'
import type { ProtocolDocument } from '../document/protocol.js'
import { type PlanResult, planFlow } from '../plan/planner.js'
import { valuesFor } from '../value/plain.js'
import { lintFlow } from './lint.js'

/** What checking one document of AIS found; `plan` for a workflow that can be planned. */
export interface CheckedDocument {
  readonly kind: AisKind
  readonly issues: readonly Issue[]
  readonly plan?: PlanResult & { readonly ok: true }
  readonly document?: FlowDocument | ProtocolDocument | PackDocument
}

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
  const read = readText(text)
  if (!read.ok) return { kind: 'flow', issues: read.issues }
  const kind = kindOf(read.value)
  if (kind === 'protocol') return checkOneProtocol(read)
  if (kind === 'flow') return checkFlow(read, given)
  const parsed = parseRead('pack', read)
  if (!parsed.ok) return { kind, issues: parsed.issues }
  return { kind, issues: [], document: parsed.document }
}

function checkOneProtocol(read: ReadDocument): CheckedDocument {
  const parsed = parseRead('protocol', read)
  if (!parsed.ok) return { kind: 'protocol', issues: parsed.issues }
  const found: Issue[] = []
  checkProtocol(parsed.document, new Issues(found))
  const issues = reportedIssues(found, read.locate)
  return { kind: 'protocol', issues, document: parsed.document }
}

async function checkFlow(
  read: ReadDocument,
  given: Parameters<typeof checkAisDocument>[1] = {}
): Promise<CheckedDocument> {
  const parsed = parseRead('flow', read)
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
    if (!planned.ok) {
      return { kind: 'flow', issues: reportedIssues(planned.issues, read.locate), document }
    }
    const { plan, resolved } = planned
    const doubts = lintFlow({ flow: document, plan, resolved, values })
    const issues = reportedIssues([...planned.issues, ...doubts], read.locate)
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

/** `name@version` of the protocols that a workflow's nodes use. */
export function protocolsNeeded(flow: FlowDocument): readonly string[] {
  return [...new Set(flow.nodes.map(({ protocol }) => protocol))].sort()
}
