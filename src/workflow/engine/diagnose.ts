import type { OpenWait, Response } from '../../block/index.js'
import { isJsonObject, type Json } from '../../core/index.js'
import { diagnosticIn, type NodeDiagnostic } from '../diagnostic/diagnostic.js'
import { parsePatches } from '../readiness/patch.js'

/** What stands in a node's way: it has failed, or it waits for somebody. */
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
  readonly actions: readonly string[]
}

/** What a run waits for and what has failed in it, node by node (W10). */
export function troublesOf(run: {
  readonly waits: readonly OpenWait[]
  readonly response: Response | null
}): readonly NodeTrouble[] {
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
    const diagnostic = diagnosticIn(details) ?? null
    return { nodeId: nodeIn(path), path, kind, diagnostic, request, token, actions }
  })
  return [...open, ...ended(run.response)]
}

/** What a block itself has asked, without what the pump adds to it. */
function shown(request: Json): Json {
  const inner = isJsonObject(request) ? request['request'] : undefined
  return inner === undefined ? request : inner
}

/**
 * Whether an answer to a failed node of a workflow changes what nobody may change (W3): it may hold
 * `patches` below the roots that can be changed, and nothing else. Other waits are not judged.
 */
export function overreaches(wait: Pick<OpenWait, 'request'>, value: Json): boolean {
  const request = shown(wait.request)
  const details = isJsonObject(request) ? request['details'] : undefined
  if (diagnosticIn(details) === undefined) return false
  if (!isJsonObject(value) || Object.keys(value).join() !== 'patches') return true
  return typeof parsePatches(value['patches'] ?? null) === 'string'
}

/** Diagnostics of failed nodes in the details of a run's response. */
function ended(response: Response | null): readonly NodeTrouble[] {
  if (response === null || response.success) return []
  return diagnosticsIn((response.details ?? {}) as Json).map((diagnostic) => ({
    nodeId: diagnostic.nodeId,
    path: `root/${diagnostic.nodeId}`,
    kind: 'failed',
    diagnostic,
    request: null,
    token: null,
    actions: []
  }))
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
