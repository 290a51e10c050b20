import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { capabilityError, limits, sha256Hex } from '../../core/index.js'
import {
  ENGINE_MEMORY,
  ENGINE_STEPS,
  ENGINE_WASM_SHA256,
  GUEST_STACK_BYTES,
  METER_NAME
} from './abi.js'
import type { ThreadData } from './protocol.js'

/** Everything a thread needs but the parts that belong to it alone. */
export type Engine = Omit<ThreadData, 'wake' | 'answers'>

const ENGINE_VERSION = '0.32.0'
const corePackage = 'quickjs-emscripten-core'
const variantPackage = '@jitl/quickjs-wasmfile-release-sync'

/** File of a module of an installed package; throws when there is none. */
export type Resolve = (specifier: string) => string

const installed: Resolve = (specifier) => createRequire(import.meta.url).resolve(specifier)

/**
 * Finds the engine, an optional peer, and measures it: bytes are read once, hashed, and those bytes
 * are compiled. Throws `sandbox.engine_missing` and `sandbox.engine_mismatch`.
 */
export async function loadEngine(resolve: Resolve = installed): Promise<Engine> {
  const coreFile = locate(resolve, corePackage, corePackage)
  const variantFile = locate(resolve, variantPackage, variantPackage)
  const bytes = await readFile(locate(resolve, variantPackage, `${variantPackage}/wasm`))
  const actual = sha256Hex(bytes)
  if (actual !== ENGINE_WASM_SHA256) {
    throw capabilityError('sandbox.engine_mismatch', { actual, expected: ENGINE_WASM_SHA256 })
  }
  // Opening a ledger needs neither.
  const [{ meteredWasm }, { preludeText }] = await Promise.all([
    import('./metered-wasm.js'),
    import('./prelude.js')
  ])
  return {
    coreFile,
    variantFile,
    wasm: await WebAssembly.compile(meteredWasm(bytes, METER_NAME)),
    prelude: preludeText,
    stackBytes: GUEST_STACK_BYTES,
    meterName: METER_NAME,
    steps: ENGINE_STEPS,
    imagesMax: limits.SANDBOX_IMAGES_MAX,
    imageBytesMax: limits.SANDBOX_IMAGE_BYTES_MAX,
    load: {
      gasTicks: limits.SANDBOX_LOAD_GAS_TICKS,
      microtasks: limits.SANDBOX_LOAD_MICROTASKS
    },
    memory: ENGINE_MEMORY
  }
}

let ofProcess: Promise<Engine> | undefined

/** {@link loadEngine}, once for all sandboxes of the process; one that failed is tried again. */
export function sharedEngine(): Promise<Engine> {
  ofProcess ??= loadEngine().catch((error: unknown) => {
    ofProcess = undefined
    throw error
  })
  return ofProcess
}

function locate(resolve: Resolve, name: string, specifier: string): string {
  try {
    return resolve(specifier)
  } catch (cause) {
    throw capabilityError(
      'sandbox.engine_missing',
      { package: name, version: ENGINE_VERSION },
      { cause }
    )
  }
}

// The library of types has no values of WebAssembly without those of a browser.
declare const WebAssembly: {
  readonly compile: (bytes: Uint8Array) => Promise<ThreadData['wasm']>
}
