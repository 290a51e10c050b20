/**
 * What the outcome of a package depends on beside its own text. Each part is in every code hash, so
 * a change of one is a change of the package (formats.md §3, research: sandbox profile).
 */

/**
 * Version of the interface between guest and host: the prelude, the scoped API, the rules of
 * suspension and the limits of the engine. Raise it with any change that a package could notice.
 */
export const ABI_VERSION = 'tally-abi/1'

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

/** The profile that receipts name (formats.md §3). */
export const SANDBOX_PROFILE = { abi: ABI_VERSION, wasm: ENGINE_WASM_SHA256 } as const
