import {
  type Clock,
  canonicalize,
  type Json,
  ManualClock,
  nextTurn,
  type Random,
  systemClock
} from '../../src/core/index.js'
import { generateIdentity, type Signer } from '../../src/identity/index.js'
import { openLedger, type Store, type StoreItem } from '../../src/ledger/index.js'
import { Registry } from '../../src/runtime/code/registry.js'
import type { Registrations } from '../../src/runtime/index.js'
import { WiredRuntime } from '../../src/runtime/runtime.js'
import { FaultyDisk } from '../../src/testing/index.js'

/** Fixed, so that receipts of different runs can be compared byte by byte. */
export const testKeys = generateIdentity({
  bytes: (length) => new Uint8Array(length).fill(7),
  uuid: () => '00000000-0000-4000-8000-000000000007'
})

const fixedRandom: Random = {
  bytes: (length) => new Uint8Array(length).fill(3),
  uuid: () => '00000000-0000-4000-8000-000000000003'
}

/** Signs at once and in this thread: whatever happens then takes turns of the loop, never time. */
export function inlineSigner(): Signer {
  const local = testKeys.signer()
  return { publicKey: local.publicKey, sign: (message) => local.sign(message) }
}

/** Opens a runtime on a store that the test owns; `close` closes the store too. */
export async function openOn(
  store: Store,
  options: Registrations & {
    readonly clock?: Clock
    readonly durability?: 'output' | 'step'
    readonly profile?: Json
  }
): Promise<WiredRuntime> {
  const { clock = new ManualClock(), durability = 'output', profile, ...registrations } = options
  const { identity, blobKey } = testKeys
  const signer = inlineSigner()
  const ledger = await openLedger({ store, identity, signer, blobKey, create: 'if-absent' })
  const close = async () => {
    try {
      await ledger.close()
    } finally {
      await store.close()
    }
  }
  const registry = await Registry.open({ ...registrations, clock })
  return new WiredRuntime({ ledger, store, realPath: undefined, close }, registry, {
    clock,
    random: fixedRandom,
    durability,
    ...(profile === undefined ? {} : { profile })
  })
}

/**
 * One life of a process. It counts boundaries (both sides of every commit and of every effect) and
 * dies at the one that the test names; nothing that a dead process does reaches the disk or the
 * world.
 */
export class Life {
  boundaries = 0
  isDead = false
  readonly #dieAt: number
  readonly #died: () => void

  constructor(options: { readonly dieAt?: number | undefined; readonly died?: () => void }) {
    this.#dieAt = options.dieAt ?? Number.POSITIVE_INFINITY
    this.#died = options.died ?? (() => undefined)
  }

  /** False when the process is dead, now or since before. */
  passes(): boolean {
    if (this.isDead) return false
    this.boundaries += 1
    if (this.boundaries < this.#dieAt) return true
    this.isDead = true
    this.#died()
    return false
  }

  clock(clock: ManualClock): Clock {
    return {
      now: () => clock.now(),
      schedule: (at, due) => clock.schedule(at, () => (this.isDead ? undefined : due()))
    }
  }

  store(inner: Store): Store {
    const commit = async (items: readonly StoreItem[]) => {
      if (!this.passes()) throw new Error('the process died before a commit')
      const applied = await inner.commit(items)
      if (!this.passes()) throw new Error('the process died after a commit')
      return applied
    }
    return {
      get: (key) => inner.get(key),
      entries: (range) => inner.entries(range),
      commit,
      compact: () => inner.compact(),
      close: () => inner.close()
    }
  }
}

/** Something that was done outside, by whom and how often. */
export interface Deed {
  readonly key: string
  readonly request: string
}

const never = new Promise<never>(() => undefined)

/** The world outside: it remembers what was really done, over all lives. */
export class World {
  readonly deeds: Deed[] = []
  readonly #results = new Map<string, Json>()
  life = new Life({})

  /** Does something every time it is asked. */
  async act(call: { readonly key: string; readonly request: Json }): Promise<Json> {
    if (!this.life.passes()) return never
    const request = canonicalize(call.request)
    this.deeds.push({ key: call.key, request })
    const result = { done: request.length }
    this.#results.set(call.key, result)
    if (!this.life.passes()) return never
    return result
  }

  /** Does something once for each key. */
  async actOnce(call: { readonly key: string; readonly request: Json }): Promise<Json> {
    const known = this.#results.get(call.key)
    if (known !== undefined) return this.life.passes() ? known : never
    return this.act(call)
  }

  /** Takes over deeds of another world. */
  recall(deeds: readonly Deed[]): void {
    for (const deed of deeds) {
      this.deeds.push(deed)
      this.#results.set(deed.key, { done: deed.request.length })
    }
  }

  async look(call: { readonly request: Json }): Promise<Json> {
    if (!this.life.passes()) return never
    return { seen: canonicalize(call.request) }
  }

  locate(call: { readonly key: string }) {
    const result = this.#results.get(call.key)
    return result === undefined
      ? ({ found: false, definite: true } as const)
      : ({ found: true, result } as const)
  }

  resultOf(request: Json): Json | undefined {
    const text = canonicalize(request)
    const deed = this.deeds.find((one) => one.request === text)
    return deed === undefined ? undefined : this.#results.get(deed.key)
  }

  /** Requests that were carried out more than once. */
  repeated(): readonly string[] {
    const seen = new Set<string>()
    const twice: string[] = []
    for (const { request } of this.deeds) {
      if (seen.has(request)) twice.push(request)
      seen.add(request)
    }
    return twice
  }
}

/** A disk, a clock and a world that outlive the processes that use them. */
export class Machine {
  readonly disk: FaultyDisk
  readonly clock = new ManualClock()
  readonly world = new World()

  constructor(seed = 1) {
    this.disk = new FaultyDisk(seed)
  }

  /** Begins a life; `dieAt` is the boundary at which it ends. */
  begin(dieAt?: number): { readonly life: Life; readonly store: Store } {
    const life = new Life({ dieAt, died: () => this.disk.crash('power') })
    this.world.life = life
    return { life, store: life.store(this.disk.open()) }
  }

  /** A runtime with a life of its own. */
  async open(options: Registrations & { readonly durability?: 'output' | 'step' }) {
    const { life, store } = this.begin()
    const runtime = await openOn(store, { ...options, clock: life.clock(this.clock) })
    return Object.assign(runtime, { life })
  }
}

const QUIET_TURNS = 24
const TURNS_MAX = 200_000

/** Lets the loop turn until `progress` stays the same. */
export async function settleDown(progress: () => unknown): Promise<void> {
  let last: unknown
  let quiet = 0
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    await nextTurn()
    const now = progress()
    quiet = now === last ? quiet + 1 : 0
    last = now
    if (quiet >= QUIET_TURNS) return
  }
  throw new Error('it does not settle down')
}

/** Far more than a loaded machine needs for anything that a test waits for. */
const UNTIL_MS = 60_000

/** Lets the loop turn until a condition holds; what threads do takes time, not turns. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = systemClock.now() + UNTIL_MS
  while (systemClock.now() < end) {
    if (await holds()) return
    await nextTurn()
  }
  throw new Error('it did not happen')
}

/** The error code with which a promise rejects, or what it resolved to. */
export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => ({ resolved: value }),
    (error: unknown) => (error as { readonly code?: string }).code ?? String(error)
  )
}
