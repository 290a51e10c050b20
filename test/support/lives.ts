import {
  canonicalize,
  type Json,
  ManualClock,
  nextTurn,
  systemClock
} from '../../src/core/index.js'
import type { Store } from '../../src/ledger/index.js'
import {
  type Registrations,
  type RuntimeOnOptions,
  runtimeOn,
  type WiredRuntime
} from '../../src/runtime/index.js'
import { Life } from '../../src/testing/machine/life.js'
import {
  fixedKeys,
  fixedRandom,
  inlineSigner,
  Machine as MachineOf
} from '../../src/testing/machine/machine.js'

export { QUIET_TURNS, settleDown } from '../../src/testing/machine/settle.js'
export { fixedKeys as testKeys, inlineSigner, Life }

/** Opens a runtime on a store that the test owns; `close` closes the store too. */
export async function openOn(
  store: Store,
  options: Registrations &
    Partial<
      Pick<
        RuntimeOnOptions,
        'clock' | 'compilations' | 'durability' | 'outside' | 'profile' | 'random'
      >
    >
): Promise<WiredRuntime> {
  return runtimeOn({
    clock: new ManualClock(),
    durability: 'output',
    random: fixedRandom,
    ...options,
    store,
    keys: fixedKeys,
    signer: inlineSigner()
  })
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

/** A machine with this world. */
export class Machine extends MachineOf<World> {
  constructor(seed = 1) {
    super(new World(), { seed })
  }

  /** A runtime with a life of its own. */
  async open(options: Registrations & { readonly durability?: 'output' | 'step' }) {
    const { life, store } = this.begin()
    const runtime = await openOn(store, { ...options, clock: life.clock(this.clock) })
    return Object.assign(runtime, { life })
  }
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
