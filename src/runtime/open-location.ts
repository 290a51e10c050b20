import { createSandbox, type Sandbox } from '../capability/index.js'
import type { IdentityId } from '../core/index.js'
import { runtimeError, systemClock, systemRandom } from '../core/index.js'
import { keyLeftovers } from '../identity/index.js'
import { KERNEL_VERSION } from '../intent/index.js'
import { type HeldStore, mainIdentity, type OwnerHandler } from '../ledger/index.js'
import type { RunningTelemetry } from '../telemetry/index.js'
import { Compilations } from './code/prepared-documents.js'
import { Registry } from './code/registry.js'
import { AwakeMarks } from './identities/awake-marks.js'
import { IdentityClock } from './identities/identity-clock.js'
import { SharedStore } from './identities/shared-store.js'
import type { LocationOptions, LocationRuntime } from './location-api.js'
import { LocationIdentities, type OpenIdentity } from './location-identities.js'
import {
  holdForRuntime,
  keyDirectory,
  keysAtHeld,
  MEMORY_LOCATION,
  openHeld,
  type SharedOpening
} from './open.js'
import { startRuntime, watchInDevelopment } from './open-runtime.js'
import type { WiredRuntime } from './runtime.js'
import type { OwnKeys } from './system/own-keys.js'

/** What `openLocation` does once it is loaded. */
export async function openLocationRuntime(options: LocationOptions): Promise<LocationRuntime> {
  if (options.location === MEMORY_LOCATION) {
    throw runtimeError('runtime.invalid_location', { problem: 'it is in memory' })
  }
  watchInDevelopment()
  const random = options.random ?? systemRandom
  const telemetry = await options.telemetry?.open({ version: KERNEL_VERSION })
  const { held, keys } = await holdForRuntime(options, { random })
  let opener: IdentityOpener | undefined
  try {
    opener = await IdentityOpener.create(held, { options, telemetry })
    const main = await opener.openMain(keys)
    return await served(held, { main, opener, options })
  } catch (error) {
    await opener?.close()
    await held.close()
    throw error
  }
}

async function served(
  held: HeldStore,
  parts: {
    readonly main: WiredRuntime
    readonly opener: IdentityOpener
    readonly options: LocationOptions
  }
): Promise<LocationRuntime> {
  const { main, opener, options } = parts
  const { socket } = held
  const location = new LocationIdentities({
    ...{ main, location: held.location, marks: opener.marks, store: opener.store, options },
    open: (identity) => opener.open(identity),
    warnings: socket.passedOver,
    close: async (closeAll) => {
      socket.pause()
      try {
        await closeAll()
      } finally {
        await opener.close()
        await held.close()
      }
    }
  })
  if (options.serve !== false) {
    const handle = await handlerOf(main.service, location, options.handOver)
    const others = (named: string) => location.serving(named)
    socket.serve({ identity: main.identity, handle, others })
  }
  location.begin()
  return location
}

/** Answers for the main identity, and hands the location over where the program wants that. */
async function handlerOf(
  service: OwnerHandler,
  location: Pick<LocationRuntime, 'close'>,
  given: LocationOptions['handOver']
): Promise<OwnerHandler> {
  if (given === undefined) return service
  const { handingOver } = await import('./opening/hand-over.js')
  return handingOver(service, location, given === true ? {} : given)
}

/**
 * Opens identities of a location that is held.
 *
 * Owns: what they share besides the store: compiled documents, the threads of packages, telemetry.
 * Does not own: which are open.
 */
class IdentityOpener {
  readonly marks: AwakeMarks
  readonly store: SharedStore
  readonly #held: HeldStore
  readonly #options: LocationOptions
  readonly #telemetry: RunningTelemetry | undefined
  readonly #shared: SharedOpening
  readonly #compilations = new Compilations()
  readonly #sandbox = createSandbox()

  private constructor(
    held: HeldStore,
    parts: {
      readonly options: LocationOptions
      readonly telemetry: RunningTelemetry | undefined
      readonly marks: AwakeMarks
      readonly shared: SharedOpening
    }
  ) {
    this.#held = held
    this.#options = parts.options
    this.#telemetry = parts.telemetry
    this.marks = parts.marks
    this.#shared = parts.shared
    this.store = new SharedStore(held.store)
  }

  /** What is beside the ledger is looked through once, and not for each identity. */
  static async create(
    held: HeldStore,
    given: {
      readonly options: LocationOptions
      readonly telemetry: RunningTelemetry | undefined
    }
  ): Promise<IdentityOpener> {
    const { realPath, marker } = held.location
    const { begun, rotating } = await keyLeftovers(keyDirectory(realPath))
    const others = marker.identities.filter((identity) => identity !== mainIdentity(marker))
    const marks = await AwakeMarks.read(realPath, others)
    const isThere = (identity: IdentityId) => held.location.marker.identities.includes(identity)
    const shared: SharedOpening = {
      begun: () => begun.filter((identity) => !isThere(identity)),
      isRotating: (identity) => rotating.has(identity)
    }
    return new IdentityOpener(held, { ...given, marks, shared })
  }

  /** Its work needs no mark: the next one who opens the location opens it. */
  async openMain(keys: OwnKeys): Promise<WiredRuntime> {
    const { clock = systemClock } = this.#options
    return this.#start(keys, clock)
  }

  async open(identity: IdentityId): Promise<OpenIdentity> {
    const { clock: real = systemClock, random = systemRandom } = this.#options
    const keys = await keysAtHeld(this.#options, identity, random)
    const clock = new IdentityClock(real)
    try {
      await this.marks.opened(identity)
    } catch (error) {
      await keys.close()
      throw error
    }
    const runtime = await this.#start(keys, clock)
    const close = () => this.#close(runtime, clock)
    return {
      runtime,
      get isIdle() {
        return clock.isIdle
      },
      close
    }
  }

  async close(): Promise<void> {
    await this.#sandbox.close()
  }

  async #start(keys: OwnKeys, clock: IdentityClock | NonNullable<LocationOptions['clock']>) {
    const { location } = this.#held
    const { random = systemRandom, onEvent, handOver, ...options } = this.#options
    const { identity } = keys.keys
    const registering = Registry.open({ ...options, compilations: this.#compilations, clock })
    const registry = await registering.catch(async (error: unknown) => {
      await keys.close()
      throw error
    })
    const held = { location, store: this.store, keys, random, shared: this.#shared }
    const opened = await openHeld({ ...held, close: async () => undefined })
    const heard = onEvent && {
      onEvent: (event: Parameters<typeof onEvent>[0]) => onEvent(event, identity)
    }
    const telemetry = this.#telemetry
    const own = { clock, random, telemetry, sandbox: kept(this.#sandbox), serve: false, ...heard }
    return startRuntime({ ...options, ...own }, { opened, registry })
  }

  async #close(runtime: WiredRuntime, clock: IdentityClock): Promise<void> {
    const { identity } = runtime
    const { isIdle } = clock
    // From here on nothing begins to move by itself.
    const due = clock.stop()
    // What lacks its code here may have it in the next process.
    const rests = runtime.runsOf.withoutCode.warningsNow().length > 0
    await runtime.close()
    if (isIdle && !rests) await this.marks.closed(identity, due)
  }
}

/** A sandbox that is not closed by one of those who use it. */
function kept(sandbox: Sandbox): Sandbox {
  return {
    execute: (request) => sandbox.execute(request),
    warm: () => sandbox.warm(),
    close: async () => undefined
  }
}
