import {
  DocumentWork,
  inSlices,
  isJsonObject,
  isTallyError,
  type Json,
  type Pieces
} from '../../core/index.js'
import { checkingProtocol } from '../document/check-protocol.js'
import type { FlowDocument } from '../document/flow.js'
import { type Issue, Issues, reportingIssues } from '../document/issue.js'
import type { PackDocument } from '../document/pack.js'
import {
  type AisKind,
  kindOf,
  parsingRead,
  type ReadDocument,
  readingText
} from '../document/parse.js'
import type { ProtocolDocument } from '../document/protocol.js'
import { type PlanOptions, type PlanResult, planningFlow } from '../plan/planner.js'
import type { CompileValues } from '../value/compile.js'
import { valuesFor } from '../value/plain.js'
import { lintingFlow } from './lint.js'
import { checkingProtocolTests } from './protocol-tests.js'

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
  return typeof schema === 'string' && /^ais(-[a-z]+)*\//.test(schema)
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
    readonly packs?: readonly PackDocument[]
    readonly defaultChain?: string
  } = {}
): Promise<CheckedDocument> {
  const work = new DocumentWork()
  let checked: CheckedDocument = { kind: 'flow', issues: [] }
  try {
    const read = await inSlices(readingText(text), work)
    if (!read.ok) return { kind: 'flow', issues: read.issues }
    checked = { kind: kindOf(read.value), issues: [] }
    if (checked.kind !== 'flow') {
      const hasTests = isJsonObject(read.value) && read.value['tests'] !== undefined
      const values = hasTests ? await valuesFor(read.value) : undefined
      return await inSlices(checkingOther(checked.kind, read, values), work)
    }
    const parsed = await inSlices(parsingRead('flow', read), work)
    if (!parsed.ok) return { kind: 'flow', issues: parsed.issues }
    checked = { ...checked, document: parsed.document }
    const { protocols = [] } = given
    const values = await valuesFor(parsed.document, ...protocols)
    const { document, origin } = parsed
    const from = origin === undefined ? {} : { origin }
    const planning = { ...given, flow: document, ...from, protocols, values }
    return await inSlices(checkingFlow(planning, read), work)
  } catch (error) {
    if (!isTallyError(error, 'document.too_much_work')) throw error
    const { message } = error
    return { ...checked, issues: [{ code: 'too_much_work', severity: 'error', path: [], message }] }
  }
}

function* checkingOther(
  kind: 'protocol' | 'pack',
  read: ReadDocument,
  values: CompileValues | undefined
): Pieces<CheckedDocument> {
  if (kind === 'pack') {
    const parsed = yield* parsingRead(kind, read)
    return parsed.ok ? { kind, issues: [], document: parsed.document } : { kind, ...parsed }
  }
  const parsed = yield* parsingRead(kind, read)
  if (!parsed.ok) return { kind, issues: parsed.issues }
  const found = new Issues()
  yield* checkingProtocol(parsed.document, found)
  if (values !== undefined && !found.hasErrors) {
    yield* checkingProtocolTests(parsed.document, values, found)
  }
  const issues = yield* reportingIssues(found.list, read.locate)
  return { kind, issues, document: parsed.document }
}

function* checkingFlow(planning: PlanOptions, { locate }: ReadDocument): Pieces<CheckedDocument> {
  const { flow: document, values, packs = [] } = planning
  const planned = yield* planningFlow(planning)
  if (!planned.ok) {
    return { kind: 'flow', issues: yield* reportingIssues(planned.issues, locate), document }
  }
  const { flow, plan, resolved } = planned
  const doubts = yield* lintingFlow({ flow, plan, resolved, values, packs })
  const issues = yield* reportingIssues([...planned.issues, ...doubts], locate)
  return { kind: 'flow', issues, plan: planned, document }
}

/** `name@version` of the protocols that a workflow's nodes use. */
export function protocolsNeeded(flow: FlowDocument): readonly string[] {
  return [...new Set(flow.nodes.map(({ protocol }) => protocol))].sort()
}
