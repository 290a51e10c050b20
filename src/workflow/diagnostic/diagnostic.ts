import { isJsonObject, type Json, type JsonObject, limits } from '../../core/index.js'
import { cleanText, redacted } from './redact.js'

/** What may be done about a failed node (W10). */
export type DiagnosticAction = 'retry' | 'patch' | 'ask_user' | 'abort'

export type DiagnosticPhase =
  | 'plan'
  | 'preflight'
  | 'condition'
  | 'arguments'
  | 'policy'
  | 'confirm'
  | 'check'
  | 'read'
  | 'simulate'
  | 'prepare'
  | 'send'
  | 'returns'
  | 'until'
  | 'assert'

/**
 * A failure of a node for a person and for a model: only these fields, each cut and redacted, never
 * an error object (W10). Plain JSON.
 */
export interface NodeDiagnostic {
  readonly code: string
  /** One sentence for people. */
  readonly message: string
  readonly nodeId: string
  readonly chain: string
  readonly executionType: string
  readonly phase: DiagnosticPhase
  /** From 1. */
  readonly attempt: number
  /** On the run's logical clock. */
  readonly elapsedMs: number
  readonly rpc?: { readonly method: string; readonly request: Json; readonly response: Json }
  readonly revert?: Json
  readonly logs?: readonly string[]
  readonly programError?: Json
  /** Transaction that it is about, as far as it was prepared. */
  readonly transaction?: Json
  /** What is wrong with which value. */
  readonly values?: readonly { readonly place: string; readonly message: string }[]
  /** What the node gave last; for polls and asserts. */
  readonly lastOutputs?: Json
  readonly lastCheckpoint: string | null
  readonly retryable: boolean
  readonly actions: readonly DiagnosticAction[]
}

/** The fields a diagnostic is built from; everything else is left out. */
export type DiagnosticFields = Omit<NodeDiagnostic, 'actions'> & {
  /** Whether something may have happened outside: then a retry asks first. */
  readonly sent: boolean
  /** The node has ended for good: what is left to do is outside of its run. Default false. */
  readonly isOver?: boolean
}

/** Builds a diagnostic: fields by name from an allow-list, texts cut, secrets taken out. */
export function nodeDiagnostic(fields: DiagnosticFields): NodeDiagnostic {
  const { rpc, revert, logs, programError, transaction, values, lastOutputs } = fields
  return {
    code: fields.code,
    message: cleanText(fields.message),
    nodeId: fields.nodeId,
    chain: fields.chain,
    executionType: fields.executionType,
    phase: fields.phase,
    attempt: fields.attempt,
    elapsedMs: fields.elapsedMs,
    ...(rpc === undefined
      ? {}
      : {
          rpc: {
            method: cleanText(rpc.method),
            request: redacted(rpc.request),
            response: redacted(rpc.response)
          }
        }),
    ...(revert === undefined ? {} : { revert: redacted(revert) }),
    ...(logs === undefined
      ? {}
      : { logs: logs.slice(0, limits.DIAGNOSTIC_LIST_LENGTH_MAX).map(cleanText) }),
    ...(programError === undefined ? {} : { programError: redacted(programError) }),
    ...(transaction === undefined ? {} : { transaction: redacted(transaction) }),
    ...(values === undefined ? {} : { values: values.map(cleanValue) }),
    ...(lastOutputs === undefined ? {} : { lastOutputs: redacted(lastOutputs) }),
    lastCheckpoint: fields.lastCheckpoint,
    retryable: fields.retryable,
    actions: actionsFor(fields)
  }
}

function cleanValue({ place, message }: { readonly place: string; readonly message: string }) {
  return { place: cleanText(place), message: cleanText(message) }
}

/** A transaction that is not included and can be replaced by one that pays more. */
export interface StuckTransaction {
  readonly hash: string
  readonly nonce: number
  /** The most that it can cost, in atomic units of the native asset. */
  readonly fee: string
}

/** The transaction that a node waits for in vain; undefined where none can be replaced. */
export function stuckTransaction({
  phase,
  transaction
}: Pick<NodeDiagnostic, 'phase' | 'transaction'>): StuckTransaction | undefined {
  if (phase !== 'send' || !isJsonObject(transaction ?? null)) return undefined
  const { hash, nonce, fee, standing } = transaction as JsonObject
  if (typeof hash !== 'string' || typeof nonce !== 'number' || typeof fee !== 'string') {
    return undefined
  }
  return standing === 'included' ? undefined : { hash, nonce, fee }
}

const byArguments: ReadonlySet<DiagnosticPhase> = new Set(['condition', 'arguments', 'check'])

/** What helps: a retry where trying again can, a patch where values were at fault. */
function actionsFor({
  retryable,
  phase,
  code,
  transaction,
  isOver = false
}: DiagnosticFields): readonly DiagnosticAction[] {
  const actions: DiagnosticAction[] = []
  if (retryable) actions.push('retry')
  if (isOver) return [...actions, 'ask_user']
  const isAboutValues = byArguments.has(phase) || phase === 'assert' || phase === 'until'
  const isStuck = stuckTransaction({ phase, ...(transaction === undefined ? {} : { transaction }) })
  if (isAboutValues || phase === 'policy' || code === 'reverted' || isStuck) actions.push('patch')
  if (phase !== 'confirm') actions.push('ask_user')
  return [...actions, 'abort']
}

/** The diagnostic in a failed response's details; undefined when it holds none. */
export function diagnosticIn(details: Json | undefined): NodeDiagnostic | undefined {
  const found = isJsonObject(details) ? details['diagnostic'] : undefined
  if (!isJsonObject(found)) return undefined
  const { code, nodeId, phase, actions } = found
  const isOne = typeof code === 'string' && typeof nodeId === 'string' && typeof phase === 'string'
  return isOne && Array.isArray(actions)
    ? (found as JsonObject as unknown as NodeDiagnostic)
    : undefined
}
