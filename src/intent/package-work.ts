import {
  type CapabilityPackage,
  createRegistry,
  declaredCapabilities,
  route,
  type Sandbox,
  type SandboxOutcome,
  type SealedAnswer,
  sandboxProfile
} from '../capability/index.js'
import type { IntentPort } from '../code/index.js'
import {
  capabilityError,
  type Hash,
  type IdentityId,
  isJsonObject,
  isTallyError,
  type Json,
  limits,
  type TallyError,
  unreachable
} from '../core/index.js'
import { authorise } from './authorise.js'
import { hostContext } from './host-context.js'
import type { Intent } from './intent.js'
import { beforeDoing, obligationOf } from './obligation.js'
import { codeHashIn, installedKey, type PackageCache } from './package-cache.js'
import { payloadTextOf } from './payload-text.js'
import { recordedState } from './providers.js'
import { answerCalls, type ScopedApi } from './scoped-api/answer-calls.js'
import type { Tell } from './stages.js'
import { refusalOf } from './trusted.js'

/** What running packages takes. */
export interface PackageTools {
  readonly identity: IdentityId
  readonly packageCache: PackageCache
  readonly sandbox: Sandbox
  readonly api: ScopedApi
  readonly tell: Tell
}

/** Who is to run, live by routing and in a replay by what was recorded. */
export interface PackageChoice {
  readonly packageId: string
  readonly codeHash: Hash
  /** What the intent is called there; worked out when it is not known. */
  readonly servedAs?: string
}

/**
 * Runs a package for an intent: grants, then the code that the state says is installed, in the
 * sandbox (K1, K8). Each call of the scoped API is an effect or work on the unit's state; once they
 * are answered the code runs again from its start with the answers (K9).
 */
export async function runPackage(
  port: IntentPort,
  tools: PackageTools,
  { intent, choice }: { readonly intent: Intent; readonly choice: PackageChoice }
): Promise<Json> {
  const { packageId, codeHash } = choice
  const code = await installedCode(port, tools.packageCache, choice)
  tools.tell('stage.measured')
  const declared = declaredCapabilities(code.manifest)
  const { action, payload, raw } = intent
  port.attribute({
    action,
    dappId: packageId,
    provider: { kind: 'package', id: `${packageId}@${code.manifest.version}`, codeHash },
    profile: sandboxProfile(code.abi),
    payloadText: payloadTextOf(port, intent),
    ...(raw === undefined ? {} : { raw }),
    capabilitiesDeclared: declared,
    isInputPrivate: false,
    isOutputPrivate: false,
    refusal: refusalOf
  })
  const { identity } = tools
  const { tell } = tools
  await authorise(port, { identity, packageId, codeHash, declared, action, tell })
  tell('stage.granted')
  const doing = { kind: 'packages', name: packageId, payload } as const
  await beforeDoing(port, obligationOf(port, doing), doing)
  const outcome = await execute(port, tools, {
    code,
    granted: declared,
    intent: {
      action: choice.servedAs ?? servedAs(code, action),
      payload,
      timestamp: Math.floor(port.at / 1000),
      ...(raw === undefined ? {} : { raw })
    }
  })
  return resultOf(port, outcome)
}

/** The code that runs is the one that the state names; anything else is never evaluated (K10). */
async function installedCode(
  port: IntentPort,
  packageCache: PackageCache,
  { packageId, codeHash }: PackageChoice
): Promise<CapabilityPackage> {
  const installed = codeHashIn(recordedState(port).get(installedKey(packageId)))
  if (installed !== codeHash) {
    return port.fail('package_changed', {
      dappId: packageId,
      codeHash,
      installed: installed ?? null
    })
  }
  const code =
    packageCache.known(codeHash) ?? (await port.elsewhere(() => packageCache.load(codeHash)))
  return code ?? port.fail('package_missing', { dappId: packageId, codeHash })
}

interface PackageRun {
  readonly code: CapabilityPackage
  readonly granted: readonly string[]
  readonly intent: Json
}

/** What the package did, and every machine repeats. */
type Ended = Exclude<
  SandboxOutcome,
  { readonly kind: 'call' } | { readonly isDeterministic: false }
>
type Incident = Extract<SandboxOutcome, { readonly isDeterministic: false }>

async function execute(
  port: IntentPort,
  { sandbox, api, identity, tell }: PackageTools,
  { code, granted, intent }: PackageRun
): Promise<Ended> {
  const recorded: SealedAnswer[] = []
  const caller = { identity, manifest: code.manifest }
  const ctx = hostContext(port)
  let rounds = 0
  let gasTicks = 0
  for (let faults = 0; ; ) {
    const outcome = await port
      .elsewhere(() =>
        sandbox.execute({
          package: code,
          intent,
          granted,
          recorded,
          now: port.at,
          seed: port.seed,
          read: (key) => port.read(key)
        })
      )
      // A sandbox that is full, closed or not installed is no answer of the package.
      .catch((error: unknown) => {
        if (isTallyError(error)) return port.halt(error)
        throw error
      })
    if (outcome.kind === 'call') {
      const { calls } = outcome
      rounds += 1
      gasTicks += outcome.gasTicks
      spend(port, { rounds, gasTicks })
      tell('stage.called')
      recorded.push(...(await answerCalls({ api, ctx, state: ctx.state, caller, calls })))
      continue
    }
    if (outcome.kind === 'done' || outcome.isDeterministic) return outcome
    // That says nothing about the package: another try may find a quieter machine.
    if (faults >= limits.SANDBOX_FAULTS_MAX) return port.halt(incident(code, outcome))
    faults += 1
  }
}

function incident({ manifest }: CapabilityPackage, { code, message }: Incident): TallyError {
  if (code === 'engine_failed')
    return capabilityError('sandbox.engine_failed', { problem: message })
  const wallMs = limits.SANDBOX_WALL_MS
  return capabilityError('sandbox.wall_clock', { packageId: manifest.id, wallMs })
}

/** Every round is bounded, and so are they all: otherwise a package could run for hours. */
function spend(
  port: IntentPort,
  { rounds, gasTicks }: { readonly rounds: number; readonly gasTicks: number }
): void {
  const { SANDBOX_ROUNDS_MAX: roundsMax, SANDBOX_ROUNDS_GAS_TICKS: gasMax } = limits
  if (rounds >= roundsMax) port.fail('rounds_exceeded', { rounds, limit: roundsMax })
  if (gasTicks > gasMax) port.fail('gas_exceeded', { gas_ticks: gasTicks, limit: gasMax })
}

function resultOf(port: IntentPort, outcome: Ended): Json {
  switch (outcome.kind) {
    case 'done': {
      const { used, denied, writes, resultText } = outcome
      if (denied.length > 0)
        return port.fail('denied', { calls: denied.map((one) => ({ ...one })) })
      for (const capability of used) port.use(capability)
      for (const [key, text] of writes) {
        port.write(key, text === null ? undefined : (JSON.parse(text) as Json))
      }
      const result = JSON.parse(resultText) as Json
      if (!isJsonObject(result) || result['type'] !== 'error') return result
      return port.fail('package_failed', { message: result['message'] ?? null })
    }
    case 'failed': {
      const { code, message, gasTicks } = outcome
      return port.fail(code, { message, gas_ticks: gasTicks })
    }
    default:
      return unreachable(outcome)
  }
}

/** What the intent is called where the package serves it; the same live and in a replay (K4). */
function servedAs(code: CapabilityPackage, action: string): string {
  const found = route(createRegistry([code]), { action, isGranted: () => true })
  return found.kind === 'provider' ? found.provider.action : action
}
