import { afterAll } from 'vitest'
import {
  ABI_VERSION,
  type AbiVersion,
  type CapabilityPackage,
  createSandbox,
  makePackage,
  parseManifest,
  type Sandbox,
  type SandboxOutcome,
  type SandboxRequest,
  type SealedAnswer
} from '../../../src/capability/index.js'
import { canonicalize, type Json, sha256Hex } from '../../../src/core/index.js'

export const NOW_MS = 1_700_000_000_123

const everything = [
  'contacts.read',
  'messages.send',
  'network.request',
  'storage.read',
  'storage.write',
  'wallet.send'
]

/** A package of one module that declares the usual capabilities. */
export function guestPackage(
  bundle: string,
  { id = 'guest', abi = ABI_VERSION }: Pick<GuestOptions, 'id' | 'abi'> = {}
): CapabilityPackage {
  const parsed = parseManifest({ name: 'Guest', id, intents: [id], capabilities: everything })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.refusals))
  return makePackage({ manifest: parsed.manifest, bundle, abi })
}

/** A module whose `run` has this body. */
export function runs(body: string): string {
  return `export async function run(intent, api) { ${body} }`
}

export type GuestOptions = Partial<Omit<SandboxRequest, 'package'>> & {
  readonly id?: string | undefined
  readonly abi?: AbiVersion | undefined
}

export function request(bundle: string, options: GuestOptions = {}): SandboxRequest {
  const { id, abi, ...rest } = options
  return {
    package: guestPackage(bundle, { id, abi }),
    intent: { action: 'guest.try', payload: {}, timestamp: 1_700_000_000 },
    granted: everything,
    recorded: [],
    now: NOW_MS,
    seed: 'GENESIS',
    read: () => undefined,
    ...rest
  }
}

/** One sandbox for a test file, closed at its end. */
export function sandboxOfFile(): {
  readonly sandbox: Sandbox
  execute(bundle: string, options?: GuestOptions): Promise<SandboxOutcome>
  /** The result of a guest that must come to an end. */
  result(body: string, options?: GuestOptions): Promise<Json>
} {
  const sandbox = createSandbox({ threads: 1 })
  afterAll(() => sandbox.close())
  const execute = (bundle: string, options?: GuestOptions) =>
    sandbox.execute(request(bundle, options))
  return {
    sandbox,
    execute,
    async result(body, options) {
      const outcome = await execute(runs(body), options)
      if (outcome.kind !== 'done') throw new Error(JSON.stringify(outcome))
      return JSON.parse(outcome.resultText)
    }
  }
}

/** The entry of a call that was answered. */
export function answered(seq: number, asked: Json, result: Json): SealedAnswer {
  return {
    seq,
    requestHash: sha256Hex(canonicalize(asked)),
    ok: true,
    resultText: canonicalize(result)
  }
}
