import type { Manifest, SandboxCall, SealedAnswer } from '../../capability/index.js'
import { type BlockContext, EffectFailure } from '../../code/index.js'
import {
  canonicalize,
  hashJson,
  type IdentityId,
  type Json,
  parse,
  unreachable
} from '../../core/index.js'
import type { HostCapability, HostState } from './host-capability.js'

/** The scoped API of a runtime: what stands behind each name (semantics.md K6). */
export type ScopedApi = ReadonlyMap<string, HostCapability>

export interface PackageCaller {
  readonly identity: IdentityId
  readonly manifest: Manifest
}

/** What it takes of the unit that runs the package. */
export interface UnitContext extends Pick<BlockContext, 'effect' | 'now' | 'unitId'> {
  /** Asks first where an obligation of the capability says so; effects do so by themselves. */
  obligedFirst(capability: string, request: Json): Promise<void>
}

/** What answering takes of the context of the block that runs the package. */
export interface CallContext extends UnitContext {
  readonly state: HostState
}

/**
 * Answers the open calls of an execution, for the recorded results of the next (K9). Stateful ones
 * are done in the order in which the package made them, effects together; the entries stand in the
 * order in which the answers came. Part of a block's code: everything it does goes through `ctx`.
 */
export async function answerCalls(options: {
  readonly api: ScopedApi
  readonly ctx: UnitContext
  /** State of the unit. */
  readonly state: HostState
  readonly caller: PackageCaller
  readonly calls: readonly SandboxCall[]
}): Promise<readonly SealedAnswer[]> {
  const { api, ctx, state, caller, calls } = options
  const entries: SealedAnswer[] = []
  const underWay: Promise<void>[] = []
  for (const call of calls) {
    const opened = open(call, api)
    if (!opened.ok) {
      entries.push(entryOf(call, opened))
    } else if (opened.capability.kind === 'stateful') {
      const { capability, request } = opened
      const host = {
        state,
        packageId: caller.manifest.id,
        identity: caller.identity,
        at: ctx.now(),
        callId: hashJson([ctx.unitId, call.seq])
      }
      const asked = parse(call.requestText) ?? {}
      const entry = await answered(call, async () => {
        await ctx.obligedFirst(capability.name, asked)
        return capability.perform(host, request)
      })
      entries.push(entry)
    } else {
      underWay.push(effect(opened, { ctx, caller, call }).then((entry) => void entries.push(entry)))
    }
  }
  await Promise.all(underWay)
  return entries
}

type Opened =
  | { readonly ok: true; readonly capability: HostCapability; readonly request: unknown }
  | Refused

interface Refused {
  readonly ok: false
  readonly reason: string
  readonly details: Json
}

function open(call: SandboxCall, api: ScopedApi): Opened {
  const capability = api.get(call.capability)
  if (capability === undefined) {
    const details = { capability: call.capability }
    return { ok: false, reason: 'not_available', details }
  }
  const request = capability.schema.safeParse(parse(call.requestText) ?? {})
  if (request.success) return { ok: true, capability, request: request.data }
  const [issue] = request.error.issues
  const path = issue?.path.map(String).join('.') ?? ''
  return { ok: false, reason: 'invalid_request', details: { path, problem: issue?.code ?? '' } }
}

async function effect(
  opened: Extract<Opened, { ok: true }>,
  options: {
    readonly ctx: UnitContext
    readonly caller: PackageCaller
    readonly call: SandboxCall
  }
): Promise<SealedAnswer> {
  const { capability, request } = opened
  const { ctx, caller, call } = options
  switch (capability.kind) {
    case 'stateful':
      throw new TypeError(`${capability.name} is no effect`)
    case 'effect': {
      const { manifest } = caller
      const entry = manifest.capabilities.find(({ name }) => name === capability.name)
      const asker = { packageId: manifest.id, entry: entry ?? { name: capability.name } }
      return answered(call, () =>
        ctx.effect(capability.name, {
          request: parse(call.requestText),
          sideEffects: capability.sideEffects(request),
          perform: (effectCall) => capability.perform(effectCall, asker)
        })
      )
    }
    default:
      return unreachable(capability)
  }
}

async function answered(call: SandboxCall, perform: () => Promise<Json>): Promise<SealedAnswer> {
  try {
    return entryOf(call, { ok: true, result: await perform() })
  } catch (error) {
    if (!(error instanceof EffectFailure)) throw error
    const { reason, details } = error
    return entryOf(call, { ok: false, reason, details })
  }
}

function entryOf(
  { seq, requestHash }: SandboxCall,
  answer: { readonly ok: true; readonly result: Json } | Refused
): SealedAnswer {
  if (!answer.ok) return { seq, requestHash, ...answer }
  return { seq, requestHash, ok: true, resultText: canonicalize(answer.result) }
}
