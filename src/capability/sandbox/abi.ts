import type { GasUnit } from './gas-meter.js'

/**
 * What the outcome of a package depends on beside its own text. Each part is in every code hash, so
 * a change of one is a change of the package (formats.md §3, research: sandbox profile).
 */

/**
 * Versions of the interface between guest and host: the prelude, the scoped API, the rules of
 * suspension, the meter and the limits of the engine. Add one with any change that a package could
 * notice: a package keeps the interface that its code hash names, and its grants with it.
 */
export const ABI_VERSIONS = ['tally-abi/1', 'tally-abi/2'] as const
export type AbiVersion = (typeof ABI_VERSIONS)[number]

/** That of packages that are packed now. */
export const ABI_VERSION = 'tally-abi/2' satisfies AbiVersion

/** How the gas of each is counted. */
export const GAS_UNITS: Readonly<Record<AbiVersion, GasUnit>> = {
  'tally-abi/1': 'polls',
  'tally-abi/2': 'steps'
}

export function isAbiVersion(text: unknown): text is AbiVersion {
  return ABI_VERSIONS.some((version) => version === text)
}

/** Name under which the metered engine exports what counts its steps. */
export const METER_NAME = 'tally_meter'

export const ENGINE_STEPS = {
  /** Steps of the metered engine that are one tick of gas. */
  perTick: 200_000,
  /**
   * What an execution may take under an interface whose gas counts polls: four times what any
   * took in the 5 s that its own program let it run.
   */
  polledMax: 20_000_000_000
} as const

/** SHA-256 of the engine's WebAssembly module; other bytes are never run. */
export const ENGINE_WASM_SHA256 = '105c3bed22d457e43e3d1c3c1c6959fda62a8fe06f0fc8a985303c3a2be72232'

/**
 * Memory of the pinned engine in bytes: 5.1 MiB of static data and stack, then the guest's 16 MiB.
 * It never grows, so running out of it happens at the same allocation everywhere.
 */
export const ENGINE_MEMORY = {
  /** End of static data; the C stack lies between it and `heapStart`, growing down. */
  staticEnd: 0x17000,
  heapStart: 0x516000,
  /** Where the engine keeps the end of its heap, which grows and never shrinks. */
  heapEndAddress: 0x15350,
  pages: 338
} as const

/** QuickJS's own limit; above 128 KiB V8's stack may end first, which varies between versions. */
export const GUEST_STACK_BYTES = 128 * 1024

/** The profile that receipts of a package name (formats.md §3). */
export function sandboxProfile(abi: AbiVersion) {
  return { abi, wasm: ENGINE_WASM_SHA256 } as const
}
