import { isJsonObject, type Json, type JsonObject, rfc3339 } from '../../core/index.js'
import { diagnosticIn } from '../diagnostic/diagnostic.js'
import { definedNodes, planOfDefinition } from './defined-plan.js'
import { withoutSecrets } from './without-secrets.js'

/** The `schema` member of exported events. */
export const engineEventSchema = 'ais-engine-event/0.0.3'

/** One line of AIS's stream of engine events. */
export interface EngineEventRecord {
  readonly schema: typeof engineEventSchema
  readonly run_id: string
  /** From 0, without gaps. */
  readonly seq: number
  readonly ts: string
  readonly event: EngineEvent
}

/** An event of a run in AIS's form. */
export interface EngineEvent {
  readonly type: EngineEventType
  readonly node_id?: string
  readonly data: JsonObject
}

/** The least set of AIS, and what it allows beside it. */
export type EngineEventType =
  | 'plan_ready'
  | 'node_ready'
  | 'node_blocked'
  | 'need_user_confirm'
  | 'query_result'
  | 'tx_prepared'
  | 'tx_sent'
  | 'tx_confirmed'
  | 'node_waiting'
  | 'checkpoint_saved'
  | 'engine_paused'
  | 'error'
  | 'solver_applied'
  | 'node_paused'
  | 'skipped'
  | 'command_accepted'
  | 'patch_applied'

/**
 * The events of a run as AIS's engines write them, from its journal and nothing else: the same
 * journal gives the same records. Secrets are hidden, signed bytes are left out. Entries are what
 * `journal` of a runtime gives, in their order.
 */
export function engineEvents(entries: readonly Json[]): readonly EngineEventRecord[] {
  const [first] = entries
  const teller = new Teller(first ?? null)
  for (const entry of entries) if (isJsonObject(entry)) teller.tell(entry)
  return teller.records
}

/**
 * Tells what entries mean in AIS's words.
 *
 * Owns: what was told of one journal so far. Owns no run.
 */
class Teller {
  readonly records: EngineEventRecord[] = []
  readonly #runId: string
  readonly #nodes: ReadonlyMap<string, JsonObject>
  /** Attempts that were told to be ready, and how often they have slept. */
  readonly #ready = new Set<string>()
  readonly #polls = new Map<string, number>()
  #at = 0

  constructor(first: Json) {
    const run = isJsonObject(first) ? first['run'] : undefined
    this.#runId = typeof run === 'string' ? run : ''
    this.#nodes = definedNodes(isJsonObject(first) ? (first['definition'] ?? null) : null)
  }

  tell(entry: JsonObject): void {
    const { at, path } = entry
    this.#at = typeof at === 'number' ? at : this.#at
    const node = typeof path === 'string' ? path.slice('root/'.length) : ''
    switch (entry['k']) {
      case 'run.started':
        return this.#started(entry)
      case 'requested':
      case 'sealed':
        return this.#call(node, entry)
      case 'wait':
        return this.#wait(node, entry)
      case 'answered':
      case 'approval':
        return this.#add('command_accepted', node, commandOf(entry))
      case 'decision': {
        this.#add('command_accepted', node, commandOf(entry))
        const { patch = null, action } = entry
        if (patch !== null) this.#add('patch_applied', node, { patch })
        if (action === 'skip') this.#add('skipped', node, { reason: 'a person has skipped it' })
        return
      }
      case 'settled':
        return this.#settled(node, entry)
      case 'run.waiting': {
        const { waits = [] } = entry
        return this.#add('engine_paused', '', { paused: (waits as Json[]).map(pausedOf) })
      }
      case 'run.finished':
        return this.#finished(entry)
      default:
        return
    }
  }

  #started(entry: JsonObject): void {
    const plan = planOfDefinition(entry['definition'] ?? null)
    this.#add('plan_ready', '', { plan, definition_hash: entry['definitionHash'] ?? null })
  }

  #call(node: string, entry: JsonObject): void {
    const { effect, k, ok, body = null } = entry
    if (effect === 'wait') return this.#answer(node, body)
    if (effect === 'timer') return
    this.#isReady(node, entry)
    if (k !== 'sealed' || ok !== true || !isJsonObject(body)) return
    if (effect === 'ais.detect') return this.#add('solver_applied', node, { choice: body })
    const transaction = isJsonObject(body['transaction'] ?? null) ? body['transaction'] : undefined
    if (effect === 'chain.prepare' && transaction !== undefined) {
      const { raw: _, ...shown } = transaction as JsonObject
      return this.#add('tx_prepared', node, { tx: shown, kind: body['kind'] ?? null })
    }
    if (effect !== 'chain.broadcast') return
    this.#add('tx_sent', node, { tx_hash: body['hash'] ?? null, answer: body['answer'] ?? null })
  }

  #answer(node: string, body: Json): void {
    const given = isJsonObject(body) ? body : {}
    const { action = null, value = null } = given
    this.#add('command_accepted', node, commandOf({ action, by: given['by'] ?? null }))
    const patches = isJsonObject(value) ? value['patches'] : undefined
    if (Array.isArray(patches)) this.#add('patch_applied', node, { patches: patches as Json[] })
  }

  #wait(node: string, entry: JsonObject): void {
    const { reason, due = null, token = null, request = null } = entry
    const shown = isJsonObject(request) ? (request['request'] ?? request) : null
    if (reason === 'poll' || reason === 'retry') {
      const attempts = (this.#polls.get(node) ?? 0) + 1
      this.#polls.set(node, attempts)
      return this.#add('node_waiting', node, { attempts, next_attempt_at_ms: due })
    }
    if (reason === 'confirmation' || reason === 'permission') {
      this.#isReady(node, entry)
      return this.#add('need_user_confirm', node, {
        reason: String(reason),
        details: this.#details(node, entry, shown)
      })
    }
    const asked = isJsonObject(shown) ? shown : {}
    if (asked['kind'] === 'missing') {
      const missing = (asked['missing'] as readonly Json[]) ?? []
      return this.#add('node_blocked', node, {
        readiness: {
          state: 'blocked',
          missing_refs: missing.map(pathOf),
          choices: asked['choices'] ?? []
        },
        token
      })
    }
    this.#add('node_paused', node, { reason: String(reason), details: { token, request: shown } })
  }

  #details(node: string, entry: JsonObject, shown: Json): JsonObject {
    const planned = this.#nodes.get(node) ?? {}
    const source = isJsonObject(planned['source'] ?? null) ? (planned['source'] as JsonObject) : {}
    const execution = planned['execution']
    const asked = isJsonObject(shown) ? shown : {}
    const hits = Array.isArray(asked['hitReasons']) ? (asked['hitReasons'] as readonly Json[]) : []
    const reasons = hits.flatMap((hit) => (isJsonObject(hit) ? [hit['reason'] ?? null] : []))
    const { riskLevel = null, policyHash = null, packs = [] } = asked
    return {
      node_id: node,
      workflow_node_id: source['node'] ?? node,
      action_ref: asked['actionRef'] ?? `${String(source['protocol'])}/${String(source['name'])}`,
      hit_reasons: reasons.length === 0 ? [String(entry['reason'])] : reasons,
      chain: planned['chain'] ?? null,
      execution_type: isJsonObject(execution ?? null)
        ? ((execution as JsonObject)['type'] ?? null)
        : null,
      policy_summary: { hits, risk_level: riskLevel, policy_hash: policyHash },
      pack_summary: packs,
      confirmation_hash: entry['digest'] ?? null,
      arguments: asked['arguments'] ?? null,
      token: entry['token'] ?? null
    }
  }

  #settled(node: string, entry: JsonObject): void {
    const { response = null, attempt = 1 } = entry
    const found = isJsonObject(response) ? response : {}
    const data = isJsonObject(found['data'] ?? null) ? (found['data'] as JsonObject) : {}
    if (found['success'] !== true) this.#failed(node, found, attempt)
    else if (data['status'] === 'skipped') {
      this.#add('skipped', node, { reason: 'its condition is false' })
    } else {
      this.#isReady(node, entry)
      const outputs = data['outputs'] ?? {}
      const isAction = this.#nodes.get(node)?.['kind'] === 'action'
      if (isAction && data['status'] === 'done') {
        const { tx_hash = null, receipt = null } = outputs as JsonObject
        this.#add('tx_confirmed', node, { tx_hash, receipt, outputs })
      } else if (this.#nodes.has(node)) this.#add('query_result', node, { outputs })
    }
    this.#add('checkpoint_saved', '', { journal_entry: entry['n'] ?? null })
  }

  #failed(node: string, response: JsonObject, attempt: Json): void {
    const { reason = null, details = null } = response
    const diagnostic = diagnosticIn(details)
    this.#add('error', node, {
      reason: diagnostic?.message ?? String(reason),
      retryable: diagnostic?.retryable ?? false,
      attempt,
      error: (diagnostic as unknown as Json) ?? { code: reason, details }
    })
  }

  #finished(entry: JsonObject): void {
    const { response = null, status = null } = entry
    if (isJsonObject(response) && response['success'] !== true) {
      const { reason = null, details = null } = response
      this.#add('error', '', { reason: String(reason), retryable: false, error: details })
    }
    this.#add('checkpoint_saved', '', { journal_entry: entry['n'] ?? null, status })
  }

  #isReady(node: string, { attempt = 1 }: JsonObject): void {
    const key = `${node} ${String(attempt)}`
    if (!this.#nodes.has(node) || this.#ready.has(key)) return
    this.#ready.add(key)
    this.#add('node_ready', node, { attempt })
  }

  #add(type: EngineEventType, node: string, data: JsonObject): void {
    this.records.push({
      schema: engineEventSchema,
      run_id: this.#runId,
      seq: this.records.length,
      ts: rfc3339(this.#at),
      event: {
        type,
        ...(node === '' ? {} : { node_id: node }),
        data: withoutSecrets(data) as JsonObject
      }
    })
  }
}

function commandOf({ action = null, by = null, token = null }: JsonObject): JsonObject {
  const kinds: Readonly<Record<string, string>> = {
    approve: 'user_confirm',
    deny: 'user_confirm',
    resume: 'apply_patches',
    patch: 'apply_patches',
    abort: 'cancel'
  }
  return { kind: kinds[String(action)] ?? String(action), action, by, token }
}

function pausedOf(wait: Json): Json {
  if (!isJsonObject(wait)) return null
  const { path = '', reason = null, token = null, due = null } = wait
  return { node_id: String(path).slice('root/'.length), reason, details: { token, due } }
}

function pathOf(missing: Json): Json {
  return isJsonObject(missing) ? (missing['path'] ?? null) : missing
}
