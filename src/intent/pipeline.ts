import type { Sandbox, StateReader } from '../capability/index.js'
import {
  type Block,
  defineIntentBlock,
  type IntentPort,
  type PinnedBlocks,
  type RecordedProvider,
  type SideEffectClass
} from '../code/index.js'
import { type Hash, type IdentityId, type Json, unreachable, versionedName } from '../core/index.js'
import { type Intent, parseIntent } from './intent.js'
import { KERNEL_HASH, KERNEL_VERSION } from './kernel-version.js'
import { intentBlocks, isSystemIntent } from './names.js'
import type { PackageCache } from './package-cache.js'
import { runPackage } from './package-work.js'
import { type Choice, currentState, Providers } from './providers.js'
import type { ScopedApi } from './scoped-api/answer-calls.js'
import { listened, type StageListener, type Tell } from './stages.js'
import { runSystem } from './system/run-system.js'
import type { Versions } from './system/system-work.js'
import { programVersions } from './system/versions.js'
import { runGranted, runTrusted } from './trusted.js'
import { checkPrincipal, type UsedCode, usedBlock, usedPackage } from './used-code.js'

export interface IntentPipelineOptions {
  readonly identity: IdentityId
  /** Trusted blocks; those with `intents` serve them. */
  readonly blocks: readonly Block[]
  readonly packageCache: PackageCache
  readonly sandbox: Sandbox
  readonly api: ScopedApi
  /** Default: those of this program. For tests of what a later one does. */
  readonly versions?: Versions
  readonly onStage?: StageListener
}

/**
 * The leaf blocks that do intents (K1): who does one is chosen when it runs, and stands in its
 * journal entry and its receipt. A replay asks the same provider again and does not choose (K4).
 *
 * Owns: nothing. What it decides by is state, packages and registered blocks.
 */
export function createIntentPipeline(options: IntentPipelineOptions): {
  readonly blocks: readonly Block[]
  /** The trusted block that an action is routed to, if no package goes before it (K4). */
  serving(action: string): Block | undefined
  /** Who would do an intent now. */
  choose(intent: Pick<Intent, 'action' | 'provider'>, state: StateReader): Choice
} {
  const providers = new Providers(options.blocks, options.packageCache)
  const { versions = programVersions } = options
  const pipeline = { ...options, versions, providers }
  const blocks = (Object.keys(intentBlocks) as SideEffectClass[]).map((sideEffects) =>
    defineIntentBlock({
      name: intentBlocks[sideEffects],
      version: KERNEL_VERSION,
      sideEffects,
      work: {
        run: (port, input, pinned) => runIntent(port, input, { pinned, ...pipeline }),
        codeOf: (recorded) => codeOf(recorded, pipeline)
      }
    })
  )
  const { identity } = options
  return {
    blocks,
    serving: (action) => providers.serving(action),
    choose: (intent, state) =>
      providers.choose(intent, { named: undefined, identity, state, pinned: undefined })
  }
}

interface Pipeline extends IntentPipelineOptions {
  readonly providers: Providers
  readonly versions: Versions
  readonly pinned?: PinnedBlocks | undefined
}

/** The stages of machines/intent.ts, from the intent to its result; failures are thrown. */
function runIntent(given: IntentPort, input: Json, pipeline: Pipeline): unknown {
  const { onStage } = pipeline
  const tell: Tell = onStage === undefined ? untold : (event) => onStage(given.unitId, event)
  const port = onStage === undefined ? given : listened(given, tell)
  const parsed = parseIntent(input)
  if (!parsed.ok) return port.fail('invalid_intent', { problem: parsed.problem })
  const intent = frozen(parsed.intent)
  tell('stage.parsed')
  if (isSystemIntent(intent.action)) {
    tell('chosen.kernel')
    return executed(runSystem(port, intent, pipeline), tell)
  }
  const choice = chosen(port, intent, pipeline)
  if (choice.kind !== 'none') checkPrincipal(port, pipeline.identity, () => usedBy(choice))
  switch (choice.kind) {
    case 'block':
      if (choice.block.needsGrant === true) {
        // A stranger's code is treated like a package.
        tell('chosen.package')
        const { identity } = pipeline
        return executed(runGranted(port, choice.block, { intent, identity, tell }), tell)
      }
      tell('chosen.block')
      return executed(runTrusted(port, choice.block, intent), tell)
    case 'package':
      tell('chosen.package')
      return executed(
        runPackage(port, { ...pipeline, tell }, { intent, choice: choice.provider }),
        tell
      )
    case 'none':
      return port.fail(choice.reason, { action: intent.action })
    default:
      return unreachable(choice)
  }
}

const untold: Tell = () => undefined

function executed(result: unknown, tell: Tell): unknown {
  if (tell === untold) return result
  if (result instanceof Promise) {
    return result.then((value: unknown) => {
      tell('stage.executed')
      return value
    })
  }
  tell('stage.executed')
  return result
}

type Chosen =
  | Exclude<Choice, { readonly kind: 'package' }>
  | {
      readonly kind: 'package'
      readonly provider: {
        readonly packageId: string
        readonly codeHash: Hash
        readonly declared: readonly string[]
        readonly servedAs?: string
      }
    }

function usedBy(choice: Exclude<Chosen, { readonly kind: 'none' }>): UsedCode | undefined {
  return choice.kind === 'block' ? usedBlock(choice.block) : usedPackage(choice.provider)
}

function chosen(port: IntentPort, intent: Intent, pipeline: Pipeline): Chosen {
  const { identity, providers, pinned } = pipeline
  const { recorded, provider } = port
  if (recorded !== undefined) return recordedChoice(recorded, providers)
  const choice = providers.choose(intent, {
    named: provider ?? undefined,
    identity,
    state: currentState(port),
    pinned
  })
  if (choice.kind !== 'package') return choice
  const { packageId, codeHash, declared, action } = choice.provider
  return { kind: 'package', provider: { packageId, codeHash, declared, servedAs: action } }
}

function recordedChoice({ kind, id, codeHash }: RecordedProvider, providers: Providers): Chosen {
  if (kind === 'package') {
    const packageId = versionedName(id).name
    return { kind: 'package', provider: { packageId, codeHash, declared: [] } }
  }
  const block = kind === 'declared' ? providers.block(id) : undefined
  return block === undefined ? { kind: 'none', reason: 'no_provider' } : { kind: 'block', block }
}

async function codeOf(
  { kind, id, codeHash }: RecordedProvider,
  { providers, packageCache }: Pipeline
): Promise<Hash | undefined> {
  if (kind === 'kernel') return KERNEL_HASH
  if (kind === 'package') return (await packageCache.load(codeHash))?.codeHash
  return providers.block(id)?.codeHash
}

/** The code that carries out an intent cannot change what it asks (K1). */
function frozen(intent: Intent): Intent {
  freezeDeep(intent.payload)
  return Object.freeze(intent)
}

function freezeDeep(value: Json): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  for (const member of Object.values(value)) freezeDeep(member)
  Object.freeze(value)
}
