import {
  type Clock,
  canonicalize,
  capabilityError,
  coreError,
  type Hash,
  type Json,
  limits,
  systemClock,
  unreachable
} from '../../core/index.js'
import { declaredCapabilities } from '../manifest/manifest.js'
import type { CapabilityPackage } from '../packages/package.js'
import { storageKey } from '../permissions/keys.js'
import { GAS_UNITS } from './abi.js'
import { type Engine, sharedEngine } from './engine.js'
import { judge } from './judge.js'
import type { SandboxOutcome, SealedAnswer } from './outcome.js'
import type { RecordedResultMessage, RunMessage, SandboxLimits } from './protocol.js'
import { type ReadState, SandboxWorker, seedWords } from './worker.js'

export interface SandboxRequest {
  readonly package: CapabilityPackage
  /** What `run` receives, frozen. */
  readonly intent: Json
  /** Declared capabilities that are granted; a call of any other is refused and recorded. */
  readonly granted: readonly string[]
  /** Results of earlier calls in delivery order (K9); empty at first. */
  readonly recorded: readonly SealedAnswer[]
  /** The attempt's frozen time in milliseconds (K7). */
  readonly now: number
  /** Seed of the attempt (formats.md §3). */
  readonly seed: Hash | string
  readonly limits?: Partial<SandboxLimits>
  /**
   * Canonical text of a state entry. Asked with full keys below the package's own prefix, at most
   * once a call of `storage.get`, while the guest waits: it must answer at once.
   */
  readonly read: ReadState
}

/** Where untrusted packages run (K8). */
export interface Sandbox {
  /** Rejects only when the sandbox is closed or cannot be started, or when `read` throws. */
  execute(request: SandboxRequest): Promise<SandboxOutcome>
  /** Starts the threads, so that the first execution finds one ready. */
  warm(): Promise<void>
  close(): Promise<void>
}

const defaultLimits: SandboxLimits = {
  gasTicks: limits.SANDBOX_GAS_TICKS,
  hostCalls: limits.SANDBOX_HOST_CALLS_MAX,
  hostBytes: limits.SANDBOX_HOST_BYTES_MAX,
  microtasks: limits.SANDBOX_MICROTASKS_MAX,
  wallMs: limits.SANDBOX_WALL_MS
}

/** A pool of worker threads that start when they are needed first. */
export function createSandbox(
  options: { readonly threads?: number; readonly clock?: Clock } = {}
): Sandbox {
  return new SandboxPool(options.threads ?? limits.SANDBOX_THREADS, options.clock ?? systemClock)
}

interface Waiting {
  readonly take: (worker: SandboxWorker) => void
  readonly refuse: (error: unknown) => void
}

/**
 * Owns: the threads, and executions that wait for one. Does not own: what is performed for a guest.
 *
 * Invariants:
 * - X9 At most as many threads as were asked for, each with one execution at a time; a dead one is
 *   replaced when the next execution needs it.
 * - X10 After `close` every execution rejects and no thread is left.
 */
class SandboxPool implements Sandbox {
  readonly #threads: number
  readonly #clock: Clock
  readonly #idle: SandboxWorker[] = []
  readonly #all = new Set<SandboxWorker>()
  readonly #waiting: Waiting[] = []
  #isClosed = false

  constructor(threads: number, clock: Clock) {
    this.#threads = threads
    this.#clock = clock
  }

  async execute(request: SandboxRequest): Promise<SandboxOutcome> {
    const {
      package: { manifest },
      recorded
    } = request
    const message = messageOf(request)
    const worker = await this.#acquire()
    try {
      const end = await worker.run(message, (key) => {
        const full = storageKey(manifest.id, key)
        return full === undefined ? undefined : request.read(full)
      })
      switch (end.kind) {
        case 'report':
          return judge({ report: end.report, packageId: manifest.id, recorded })
        case 'killed':
          return notRun('killed', 'the wall-clock limit ran out')
        case 'fault':
          return notRun('engine_failed', end.problem)
        default:
          return unreachable(end)
      }
    } finally {
      this.#release(worker)
    }
  }

  async warm(): Promise<void> {
    const engine = await this.#loadEngine()
    while (!this.#isClosed && this.#all.size < this.#threads) this.#idle.push(this.#start(engine))
    await Promise.all([...this.#all].map((worker) => worker.ready()))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const closed = capabilityError('sandbox.closed', {})
    for (const { refuse } of this.#waiting.splice(0)) refuse(closed)
    await Promise.all([...this.#all].map((worker) => worker.close()))
    this.#all.clear()
  }

  #loadEngine(): Promise<Engine> {
    if (this.#isClosed) return Promise.reject(capabilityError('sandbox.closed', {}))
    return sharedEngine()
  }

  async #acquire(): Promise<SandboxWorker> {
    const engine = await this.#loadEngine()
    if (this.#isClosed) throw capabilityError('sandbox.closed', {})
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (!idle.isDead) return idle
      this.#all.delete(idle)
    }
    if (this.#all.size < this.#threads) return this.#start(engine)
    if (this.#waiting.length >= limits.SANDBOX_QUEUE_MAX) {
      throw coreError('core.limit_exceeded', {
        what: 'The number of packages that wait for a thread',
        actual: this.#waiting.length + 1,
        limit: limits.SANDBOX_QUEUE_MAX
      })
    }
    return new Promise((take, refuse) => this.#waiting.push({ take, refuse }))
  }

  #start(engine: Engine): SandboxWorker {
    const worker = new SandboxWorker(engine, this.#clock)
    this.#all.add(worker)
    return worker
  }

  #release(worker: SandboxWorker): void {
    if (worker.isDead) this.#all.delete(worker)
    const next = this.#isClosed ? undefined : this.#waiting.shift()
    // `#acquire` discards a dead worker.
    if (next === undefined) this.#idle.push(worker)
    else if (!worker.isDead) next.take(worker)
    else this.#loadEngine().then((engine) => next.take(this.#start(engine)), next.refuse)
  }
}

function notRun(code: 'killed' | 'engine_failed', message: string): SandboxOutcome {
  return { kind: 'failed', code, message, isDeterministic: false }
}

function messageOf(request: SandboxRequest): RunMessage & { readonly bundle: string } {
  const {
    package: { manifest, bundle, codeHash, abi },
    granted
  } = request
  const declared = declaredCapabilities(manifest)
  return {
    codeHash,
    bundle,
    gasUnit: GAS_UNITS[abi],
    intentText: canonicalize(request.intent),
    declared,
    granted: declared.filter((name) => granted.includes(name)),
    now: request.now,
    words: seedWords(request.seed),
    recorded: request.recorded.map(recordedResultMessage),
    limits: { ...defaultLimits, ...request.limits }
  }
}

function recordedResultMessage(entry: SealedAnswer): RecordedResultMessage {
  if (entry.ok) return { seq: entry.seq, ok: true, text: entry.resultText }
  const { reason, details } = entry
  return { seq: entry.seq, ok: false, text: canonicalize({ reason, details }) }
}
