import { assert, canonicalize, type Hash, limits } from '../../core/index.js'
import { failedResponse, type Response, type ScopeAsk } from '../protocol.js'
import { applyEntry } from './apply.js'
import { unitIdOf } from './attempt.js'
import type { ScopeEnded } from './entries.js'
import { seedOf } from './execution.js'
import type { RunPump } from './run-pump.js'
import { Scope } from './scope.js'
import { bare, scopeUnit } from './unit.js'

type ScopeEnd = Exclude<ScopeAsk, { readonly kind: 'scope.open' }>

/**
 * The overlays of one run's atomic composites (C4). The outermost commits as one unit of work with
 * one receipt; an inner one is merged into the one around it.
 */
export class Scopes {
  readonly #pump: RunPump
  readonly #open = new Map<string, Scope>()
  /** Commits and aborts that a recovering pump leaves to the journal. */
  #pending: ScopeEnd[] = []
  /** How often the outermost overlay found that what it had read has changed (L10). */
  #conflicts = 0

  constructor(pump: RunPump) {
    this.#pump = pump
  }

  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  /** The innermost overlay around a path (not the path's own). */
  around(path: string): Scope | undefined {
    if (this.#open.size === 0) return undefined
    let end = path.lastIndexOf('/')
    while (end > 0) {
      const scope = this.#open.get(path.slice(0, end))
      if (scope !== undefined) return scope
      end = path.lastIndexOf('/', end - 1)
    }
    return undefined
  }

  take(ask: ScopeAsk): void {
    if (ask.kind !== 'scope.open') {
      this.#pending.push(ask)
      return
    }
    const outer = this.around(ask.path)
    const { journal } = this.#pump.host
    const below =
      outer === undefined ? journal.read.bind(journal) : outer.view.read.bind(outer.view)
    this.#open.set(
      ask.path,
      new Scope(ask, { at: ask.frozenAt ?? this.#pump.book.at, outer, below })
    )
  }

  /** Decides the commits and aborts that were asked for; true when there were any. */
  decide(): boolean | Promise<boolean> {
    if (this.#pending.length === 0) return false
    const asks = this.#pending
    this.#pending = []
    return this.#decide(asks)
  }

  async #decide(asks: readonly ScopeEnd[]): Promise<true> {
    const { gate } = this.#pump.host
    for (const ask of asks) {
      const scope = this.#open.get(ask.path)
      if (ask.kind === 'scope.abort') this.#abort(ask)
      else if (scope === undefined || scope.outer !== undefined) this.#commit(ask)
      else if (await gate.enter(this, scope.view.writes.keys())) this.#commit(ask)
      // Another unit keeps what it has reserved: nothing has been done, so this one gives up (L10).
      else this.#abort({ ...ask, response: failedResponse('intent_conflict') })
    }
    return true
  }

  /** Lets others go on, however the overlay ended. */
  release(): void {
    this.#conflicts = 0
    this.#pump.host.gate.release(this)
  }

  #commit(ask: ScopeEnd): void {
    const pump = this.#pump
    const scope = this.#open.get(ask.path)
    assert(scope !== undefined, 'a commit ends an open overlay')
    const { path, step, attempt } = ask
    const at = pump.book.now()
    const ended = { k: 'scope', at, path, step, attempt, outcome: 'committed' } as const
    const response = bare(ask.response)
    if (scope.outer !== undefined) {
      if (!scope.outer.hasChanged(scope.view)) return pump.record({ ...ended, response })
      return pump.record({ ...ended, outcome: 'conflict', response: failedResponse('conflict') })
    }
    const id = unitIdOf(pump.runId, path, step)
    const { base } = pump.started
    const written = pump.book.append(
      { ...ended, response },
      {
        unit: scopeUnit(scope, pump.unitContext(), {
          id,
          seed: { base, value: seedOf(base, id) },
          payloadText: canonicalize(scope.opened.request.payload),
          resultText: canonicalize(scope.result(response.data))
        })
      }
    )
    if (!written.ok) {
      this.#conflicts += 1
      if (this.#conflicts > limits.CONFLICT_RERUNS_MAX) pump.host.gate.runAlone(this)
      return pump.record({ ...ended, outcome: 'conflict', response: failedResponse('conflict') })
    }
    this.#report(scope, response, written.receiptHash)
    applyEntry(pump, written.entry)
  }

  #abort(ask: ScopeEnd): void {
    const pump = this.#pump
    const scope = this.#open.get(ask.path)
    assert(scope !== undefined, 'an abort ends an open overlay')
    const { path, step, attempt } = ask
    const at = pump.book.now()
    const response = bare(ask.response)
    const written = pump.book.append(
      { k: 'scope', at, path, step, attempt, outcome: 'aborted', response },
      scope.outer === undefined
        ? {
            evidence: {
              type: 'abort',
              unitId: unitIdOf(pump.runId, path, step),
              action: scope.opened.block,
              payloadText: canonicalize(scope.opened.request.payload),
              // Blocks that act outside are not let into an overlay.
              landed: [],
              code: response.reason ?? 'failed',
              details: response.details ?? {},
              at
            }
          }
        : {}
    )
    assert(written.ok, 'an abort reads nothing')
    this.#report(scope, response, undefined)
    applyEntry(pump, written.entry)
  }

  /** Ends the overlay as the journal says, live and in recovery alike. */
  apply(entry: ScopeEnded): void {
    const { path, response, at, outcome } = entry
    this.#pending = this.#pending.filter((ask) => ask.path !== path)
    const scope = this.#open.get(path)
    this.#open.delete(path)
    const outer = scope?.outer
    if (outer === undefined && outcome !== 'conflict') this.release()
    if (outcome === 'committed' && scope !== undefined) outer?.join(scope)
    if (outcome === 'conflict') this.#pump.deliver(path, { type: 'scope.conflict', at })
    else this.#pump.deliver(path, { type: 'scope.settled', response, at, sent: false })
  }

  #report(scope: Scope, response: Response, receiptHash: Hash | undefined): void {
    const { path, step, attempt, block } = scope.opened
    this.#pump.emit({
      type: 'block.settled',
      runId: this.#pump.runId,
      at: this.#pump.book.at,
      path,
      step,
      attempt,
      block,
      response,
      ...(receiptHash === undefined ? {} : { receiptHash })
    })
  }
}
