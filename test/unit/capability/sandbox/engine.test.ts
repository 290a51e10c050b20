import files from 'node:fs/promises'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  ENGINE_MEMORY,
  ENGINE_STEPS,
  ENGINE_WASM_SHA256,
  GUEST_STACK_BYTES,
  METER_NAME
} from '../../../../src/capability/sandbox/abi.js'
import { loadEngine } from '../../../../src/capability/sandbox/engine.js'
import { meteredWasm } from '../../../../src/capability/sandbox/metered-wasm.js'
import { preludeText } from '../../../../src/capability/sandbox/prelude.js'
import { limits, sha256Hex } from '../../../../src/core/index.js'

const installed = createRequire(import.meta.url)
const core = 'quickjs-emscripten-core'
const variant = '@jitl/quickjs-wasmfile-release-sync'

/** Of what runs: a change of it changes what packages do, and asks for a new version of the ABI. */
const METERED_SHA256 = 'ce4fe707f164a164be1d086a03b1906f4ea841a8d1fc3f42241858b0a813ab07'

const { readFile } = files

function replaceReadFile(read: typeof readFile): void {
  files.readFile = read
  syncBuiltinESMExports()
}

afterEach(() => replaceReadFile(readFile))

describe('the engine of the sandbox', () => {
  it('is the installed one, with the limits of the profile', async () => {
    const { wasm, ...engine } = await loadEngine()
    expect(engine).toEqual({
      coreFile: installed.resolve(core),
      variantFile: installed.resolve(variant),
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
    })
    expect(Object.prototype.toString.call(wasm)).toBe('[object WebAssembly.Module]')
  })

  it('is the measured one, and metered in the same way everywhere', async () => {
    const bytes = await readFile(installed.resolve(`${variant}/wasm`))
    expect(sha256Hex(bytes)).toBe(ENGINE_WASM_SHA256)
    expect(sha256Hex(meteredWasm(bytes, METER_NAME))).toBe(METERED_SHA256)
  })

  it.each([
    [core, core],
    [variant, variant],
    [`${variant}/wasm`, variant]
  ])('is missing where %s is not there', async (missing, name) => {
    const asked: string[] = []
    const cause = new Error('there is no such package')
    const resolve = (specifier: string) => {
      asked.push(specifier)
      if (specifier === missing) throw cause
      return installed.resolve(specifier)
    }
    await expect(loadEngine(resolve)).rejects.toMatchObject({
      code: 'sandbox.engine_missing',
      context: { package: name, version: '0.32.0' },
      cause
    })
    expect(asked.at(-1)).toBe(missing)
  })

  it('is missing, and says what to install', async () => {
    const none = () => {
      throw new Error('not found')
    }
    await expect(loadEngine(none)).rejects.toMatchObject({
      fix: 'Run: npm install --save-exact quickjs-emscripten-core@0.32.0'
    })
  })

  it('is refused where its bytes are others', async () => {
    const other = installed.resolve(core)
    const actual = sha256Hex(await readFile(other))
    await expect(loadEngine(() => other)).rejects.toMatchObject({
      code: 'sandbox.engine_mismatch',
      context: { actual, expected: ENGINE_WASM_SHA256 }
    })
  })

  it('is loaded once for a process, and again where that has failed', async () => {
    vi.resetModules()
    const { sharedEngine } = await import('../../../../src/capability/sandbox/engine.js')
    const broken = new Error('the disk is gone')
    replaceReadFile(new Proxy(readFile, { apply: () => Promise.reject(broken) }))
    await expect(sharedEngine()).rejects.toBe(broken)
    let count = 0
    const counted = new Proxy(readFile, {
      apply: (target, self, given) => {
        count += 1
        return Reflect.apply(target, self, given)
      }
    })
    replaceReadFile(counted)
    const [one, other] = await Promise.all([sharedEngine(), sharedEngine()])
    expect(one).toBe(other)
    expect(await sharedEngine()).toBe(one)
    expect(count).toBe(1)
  })
})
