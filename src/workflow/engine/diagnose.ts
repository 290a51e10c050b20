import type { OpenWait } from '../../block/index.js'
import type { Response } from '../../code/index.js'
import { isJsonObject, type Json, type JsonObject, shownText } from '../../core/index.js'
import { type ChainFailure, hadNoEffect } from '../../executor/index.js'
import {
  type DiagnosticPhase,
  diagnosticIn,
  type NodeDiagnostic,
  nodeDiagnostic,
  type StuckTransaction,
  stuckTransaction
} from '../diagnostic/diagnostic.js'
import { patchablePaths } from './patchable.js'
import { isPreflight, outputsNode } from './spec.js'

/** What stands in a node's way: it has failed, or it waits for a person. */
export interface NodeTrouble {
  readonly nodeId: string
  readonly path: string
  readonly kind: 'failed' | 'decision' | 'missing' | 'confirm' | 'waiting'
  /** Null for waits that are no failure. */
  readonly diagnostic: NodeDiagnostic | null
  /** What is asked; null for a node that has ended. */
  readonly request: Json
  /** Names the wait; null for a node that has ended. */
  readonly token: string | null
  /** Each is taken by the wait; of a patch, some change of {@link patches} is. */
  readonly actions: readonly string[]
  /** Paths that a patch may change; absent outside of workflows, and without a definition. */
  readonly patches?: readonly string[]
}

/** What a run waits for and what has failed in it, node by node (W10). */
export function troublesOf(run: {
  readonly waits: readonly OpenWait[]
  readonly response: Response | null
  /** As the run has it in its first journal entry; tells more of nodes that ran out of time. */
  readonly definition?: Json
  /** What nodes have sent without knowing its outcome, by their actor paths. */
  readonly sent?: SentByPath
}): readonly NodeTrouble[] {
  const around = { definition: run.definition ?? null, sent: run.sent ?? new Map() }
  const open = run.waits.map(({ path, reason, token, actions, ...wait }): NodeTrouble => {
    const request = shown(wait.request)
    const details = isJsonObject(request) ? (request['details'] ?? null) : null
    const asked = isJsonObject(request) ? request['kind'] : undefined
    const kind =
      reason === 'decision'
        ? 'decision'
        : asked === 'missing' || asked === 'confirm'
          ? asked
          : 'waiting'
    const outOfTime = isJsonObject(request) ? timedOut(path, request, around) : null
    const nodeId = nodeIn(path)
    const diagnostic = diagnosticIn(details) ?? outOfTime ?? failedOutputs(nodeId, request)
    // What has no arguments of its own takes no patch, and neither does what may have taken effect.
    const stuck = stuckIn(request)
    const handed = isInDoubt(request) ? around.sent.get(path)?.['handed'] : undefined
    const decided =
      stuck !== undefined
        ? [`replace.${stuck.hash}`]
        : typeof handed === 'string'
          ? [`transaction_hash.${handed}`]
          : undefined
    const isOpen = isInDoubt(request) && decided === undefined
    const isFixed = nodeId === outputsNode || isPreflight(nodeId) || isOpen
    const spec = actions.includes('patch') && !isFixed ? plannedSpec(around, path) : undefined
    const ofArguments = spec === undefined ? [] : patchablePaths(spec, isBehindExecution(request))
    // With other arguments, what was sent would be paid beside.
    const patches = decided ?? ofArguments
    const isPatched = !isFixed && (spec === undefined || patches.length > 0)
    const taken = isPatched ? actions : actions.filter((one) => one !== 'patch')
    const known = { nodeId, path, kind, diagnostic, request, token, actions: taken } as const
    return patches.length === 0 ? known : { ...known, patches }
  })
  return [...open, ...ended(run.response, around)]
}

/** Whether a node has failed without knowing what became of what it had sent; by its response. */
export function isInDoubt(failed: Json): boolean {
  if (memberOf(failed, 'reason') === 'unknown_outcome') return true
  const diagnostic = diagnosticIn(memberOf(failed, 'details'))
  return diagnostic?.phase === 'send' && !hadNoEffect(diagnostic.code)
}

/** What a failed node has sent and may replace, by its response; undefined: there is nothing. */
export function stuckIn(failed: Json): StuckTransaction | undefined {
  const diagnostic = diagnosticIn(memberOf(failed, 'details'))
  if (diagnostic === undefined || !isInDoubt(failed)) return undefined
  return stuckTransaction(diagnostic)
}

/** Whether a node has failed after its execution was done; by its response. */
export function isBehindExecution(failed: Response | Json | undefined): boolean {
  const diagnostic = diagnosticIn(memberOf((failed ?? null) as Json, 'details'))
  return diagnostic !== undefined && behindExecution.has(diagnostic.phase)
}

const behindExecution: ReadonlySet<DiagnosticPhase> = new Set(['returns', 'until', 'assert'])

/** The diagnostic of what computes the outputs, which have neither a chain nor arguments. */
function failedOutputs(nodeId: string, request: Json): NodeDiagnostic | null {
  const details = memberOf(request, 'details')
  const code = memberOf(request, 'reason')
  if (nodeId !== outputsNode || typeof code !== 'string') return null
  const [name, problem] = [memberOf(details, 'name'), memberOf(details, 'detail')]
  const place = typeof name === 'string' ? `outputs.${name}` : 'outputs'
  const message = `what the nodes gave does not make the outputs: ${shownText(problem ?? '')}`
  return nodeDiagnostic({
    code,
    message,
    nodeId,
    chain: 'none',
    executionType: 'none',
    phase: 'returns',
    attempt: 1,
    elapsedMs: 0,
    lastCheckpoint: null,
    values: [{ place, message }],
    retryable: false,
    sent: false
  })
}

type SentByPath = ReadonlyMap<string, JsonObject>

interface Around {
  readonly definition: Json
  readonly sent: SentByPath
}

/** What a block itself has asked, without what the pump adds to it. */
export function shown(request: Json): Json {
  const inner = isJsonObject(request) ? request['request'] : undefined
  return inner === undefined ? request : inner
}

/** What a run has failed of: nodes with their diagnostics, or else what its response says. */
function ended(response: Response | null, around: Around): readonly NodeTrouble[] {
  if (response === null || response.success) return []
  const { reason = null, errorType = null } = response
  const details = (response.details ?? {}) as Json
  const nodes = memberOf(details, 'nodes')
  const failed = isJsonObject(nodes) ? Object.entries(nodes).flatMap(failedNode(around)) : []
  const told = diagnosticsIn(details)
  const known = new Set(told.map(({ nodeId }) => nodeId))
  const all = [
    ...told.map((one) => over(`root/${one.nodeId}`, one, null)),
    ...failed.filter(({ nodeId }) => !known.has(nodeId))
  ]
  return all.length > 0 ? all : [over('root', null, { reason, errorType, details })]
}

function failedNode(around: Around) {
  return ([nodeId, state]: [string, Json]): readonly NodeTrouble[] => {
    const path = `root/${nodeId}`
    if (!isJsonObject(state) || state['status'] !== 'failed') return []
    const [found = timedOut(path, state, around)] = diagnosticsIn(state)
    const { reason = null, details = null } = state
    return [over(path, found, found === null ? { reason, details } : null)]
  }
}

/** A node that has ended: no command of its run is left. */
function over(path: string, found: NodeDiagnostic | null, request: Json): NodeTrouble {
  const diagnostic = found === null ? null : { ...found, actions: [] }
  const nodeId = found?.nodeId ?? nodeIn(path)
  return { nodeId, path, kind: 'failed', diagnostic, request, token: null, actions: [] }
}

/**
 * The diagnostic of a node that the core has ended because its time was over (W5), so that it could
 * not write one itself; null for other ends. What was sent is asked for by its id when it is
 * retried.
 */
function timedOut(
  path: string,
  end: JsonObject,
  { definition, sent }: Around
): NodeDiagnostic | null {
  const { reason, details, attempt } = end
  const isUnknown = isJsonObject(details ?? null) && (details as JsonObject)['timed_out'] === true
  if (reason !== 'timed_out' && !isUnknown) return null
  const node = plannedNode({ definition }, path)
  const execution = isJsonObject(node?.['execution'] ?? null) ? node?.['execution'] : {}
  const timeoutMs = node?.['timeoutMs']
  const transaction = isUnknown ? sent.get(path) : undefined
  return nodeDiagnostic({
    code: isUnknown ? 'unknown_outcome' : 'timed_out',
    message: isUnknown
      ? 'its time was over after something was sent; whether it took effect is unknown yet'
      : 'its time was over before it was done; nothing was sent',
    nodeId: nodeIn(path),
    chain: text(node?.['chain']),
    executionType: text((execution as JsonObject)['type']),
    phase: isUnknown ? 'send' : node?.['kind'] === 'action' ? 'prepare' : 'read',
    attempt: typeof attempt === 'number' ? attempt : 1,
    elapsedMs: typeof timeoutMs === 'number' ? timeoutMs : 0,
    lastCheckpoint: null,
    retryable: true,
    sent: isUnknown,
    ...(transaction === undefined ? {} : { transaction })
  })
}

/**
 * The diagnostic of a transaction that a run has as confirmed and that is not in its block any
 * more, or whose status is unknown. Its node and its receipt stay as they are; `retry` is to send
 * the same bytes again, or to ask again.
 */
export function reorgDiagnostic(
  {
    failure,
    path,
    mayRetry,
    code = failure.code
  }: {
    readonly failure: ChainFailure
    readonly path: string
    readonly mayRetry: boolean
    /** Instead of the failure's own. */
    readonly code?: string
  },
  run: RunDocuments
): NodeDiagnostic {
  const execution = memberOf(plannedNode(run, path) ?? null, 'execution')
  const { message, phase, chain, sent, transaction } = failure
  return nodeDiagnostic({
    code,
    message,
    nodeId: nodeIn(path),
    chain,
    executionType: text(isJsonObject(execution) ? execution['type'] : undefined),
    phase,
    attempt: 1,
    elapsedMs: 0,
    lastCheckpoint: null,
    retryable: mayRetry,
    sent,
    isOver: true,
    ...(transaction === undefined ? {} : { transaction })
  })
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : 'unknown'
}

/** What a run runs. */
export interface RunDocuments {
  /** As the run has it in its first journal entry. */
  readonly definition: Json
  /** A document that others use, by its name. */
  readonly used?: (name: string) => Json
}

/** A workflow's node as it was planned, at an actor's path; a workflow may stand inside others. */
function plannedNode(run: RunDocuments, path: string): JsonObject | undefined {
  const planned = memberOf(plannedSpec(run, path) ?? null, 'node')
  return isJsonObject(planned) ? planned : undefined
}

/** What the definition of a run says of a workflow's node at an actor's path. */
function plannedSpec(run: RunDocuments, path: string): JsonObject | undefined {
  const node = nodeNamed(documentAround(run, path), nodeIn(path))
  const spec = ['input', 'object', 'spec', 'lit'].reduce(memberOf, node)
  return isJsonObject(spec) ? spec : undefined
}

/** The document that has the node at an actor's path; null when the run has none there. */
export function documentAround({ definition, used }: RunDocuments, path: string): Json {
  return path
    .split('/')
    .slice(1, -1)
    .reduce((document, name) => {
      const work = memberOf(nodeNamed(document, name), 'work')
      const use = memberOf(work, 'use')
      return typeof use === 'string' ? (used?.(use) ?? null) : memberOf(work, 'graph')
    }, definition)
}

/** Plans list their nodes, composites name them. */
function nodeNamed(document: Json, name: string): Json {
  const nodes = memberOf(document, 'nodes')
  if (!Array.isArray(nodes)) return memberOf(nodes, name)
  return (nodes as readonly Json[]).find((node) => memberOf(node, 'id') === name) ?? null
}

function memberOf(owner: Json, key: string): Json {
  return isJsonObject(owner) && Object.hasOwn(owner, key) ? (owner[key] ?? null) : null
}

/** Every diagnostic that stands somewhere in a value, such as a journal entry. */
export function diagnosticsIn(value: Json): readonly NodeDiagnostic[] {
  return diagnosticsBelow(value, 0)
}

const depthMax = 8

function diagnosticsBelow(value: Json, depth: number): readonly NodeDiagnostic[] {
  if (depth > depthMax || typeof value !== 'object' || value === null) return []
  const found = diagnosticIn(value)
  if (found !== undefined) return [found]
  const members: readonly Json[] = Array.isArray(value) ? value : Object.values(value)
  return members.flatMap((member) => diagnosticsBelow(member, depth + 1))
}

function nodeIn(path: string): string {
  return path.split('/').at(-1) ?? path
}
