import type {
  CapabilityPackage,
  Sandbox,
  SandboxOutcome,
  SandboxRequest
} from '../../capability/index.js'
import { testingError } from '../../core/index.js'
import { type RuntimeOnOptions, runtimeOn, type WiredRuntime } from '../../runtime/index.js'
import type { Life } from './life.js'

/** Packages of a target, and the sandbox in which all plays of it run them. */
export interface HostedPackages {
  readonly packages: readonly CapabilityPackage[]
  readonly sandbox: Sandbox
}

interface Asked {
  readonly request: SandboxRequest
  readonly resolve: (outcome: SandboxOutcome) => void
  readonly reject: (error: unknown) => void
}

/**
 * The sandbox of one life. Threads take real time, of which turns of the loop know nothing: a guest
 * waits until nothing else happens, and nothing else happens while it computes.
 *
 * Owns: the order in which guests compute. Does not own: the threads, which outlive the life.
 *
 * - M5 Guests compute one at a time, in the order in which they were asked for, at moments that
 *   only what happened before decides: how fast a thread is changes nothing.
 */
export class Guests implements Sandbox {
  readonly #parts: GuestsParts
  readonly #asked: Asked[] = []
  #isFree = false

  constructor(parts: GuestsParts) {
    this.#parts = parts
  }

  /** Whether a guest waits for its turn. */
  get isAsked(): boolean {
    return this.#asked.length > 0
  }

  execute(request: SandboxRequest): Promise<SandboxOutcome> {
    if (this.#isFree) return this.#parts.sandbox.execute(request)
    return new Promise((resolve, reject) => this.#asked.push({ request, resolve, reject }))
  }

  /** Lets the guest compute that has waited longest, for a caller that lets nothing else happen. */
  async computeNext(): Promise<boolean> {
    const next = this.#asked.shift()
    if (next === undefined) return false
    const { life, sandbox, story } = this.#parts
    const { request, resolve, reject } = next
    const { id } = request.package.manifest
    if (!life.passes(`before ${id} computes`)) return true
    const outcome = await sandbox.execute(request).catch((error: unknown) => {
      reject(error)
    })
    if (outcome === undefined) return true
    story.push(`${id} computes: ${outcomeText(outcome)}`)
    if (life.passes(`after ${id} has computed`)) resolve(outcome)
    return true
  }

  /** From now on guests compute when they are asked for: nothing is played any more. */
  free(): void {
    this.#isFree = true
    this.#asked.length = 0
  }

  warm(): Promise<void> {
    return this.#parts.sandbox.warm()
  }

  /** The threads are those of the target. */
  async close(): Promise<void> {
    this.#asked.length = 0
  }
}

export interface GuestsParts {
  readonly sandbox: Sandbox
  readonly life: Life
  readonly story: string[]
}

function outcomeText(outcome: SandboxOutcome): string {
  switch (outcome.kind) {
    case 'done':
      return 'it returns'
    case 'call':
      return `it asks for ${outcome.calls.map(({ capability }) => capability).join(', ')}`
    case 'failed':
      return `${outcome.code}: ${outcome.message}`
  }
}

/** Installs packages on an empty ledger, and grants them what they declare; then closes it. */
export async function installPackages(
  { packages }: HostedPackages,
  options: RuntimeOnOptions
): Promise<void> {
  const runtime = await runtimeOn(options)
  try {
    for (const one of packages) {
      const { manifest, codeHash } = one
      const { id, version, capabilities } = manifest
      await runtime.packages.packageCache.keep(one)
      await acted(runtime, 'package.install', { id, version, codeHash })
      if (capabilities.length === 0) continue
      const names = capabilities.map(({ name }) => name)
      await acted(runtime, 'system.grant', { codeHash, capabilities: names })
    }
  } finally {
    await runtime.close()
  }
}

async function acted(
  runtime: WiredRuntime,
  action: string,
  payload: { readonly codeHash: string; readonly [name: string]: string | string[] }
): Promise<void> {
  const reply = await runtime.intent({ id: `${action}-${payload.codeHash}`, action, payload })
  if (reply.type === 'dapp') return
  const problem = reply.type === 'error' ? reply.message : `${action} waits`
  throw testingError('testing.target_invalid', { problem })
}

/** Has the code of installed packages at hand, in a process that begins. */
export async function holdPackages(
  { packages }: HostedPackages,
  runtime: WiredRuntime
): Promise<void> {
  for (const one of packages) runtime.packages.packageCache.hold(one)
  await runtime.packages.arrange()
}
