import type { AskedEffect, PumpHost } from '../../block/index.js'
import {
  AGENT_ADAPTERS,
  AGENT_TOOL_EFFECTS,
  AGENT_TURN_BLOCK,
  isOwner,
  type Principal,
  principalIn,
  principalLacks,
  stateOf
} from '../../capability/index.js'
import type { Block } from '../../code/index.js'
import {
  blockError,
  isJsonObject,
  type Json,
  type RunId,
  type TallyError,
  versionedName
} from '../../core/index.js'
import { type UsedCode, usedBlock, usedPackage } from '../../intent/index.js'
import type { Ledger } from '../../ledger/index.js'
import type { Compiled } from '../code/prepared-run.js'
import type { Registry } from '../code/registry.js'
import { reachedProviders } from './reached-providers.js'

/**
 * The gate of every road to an effect (K14): what principals other than the owner may use.
 *
 * Owns: nothing. What is granted is state. The kernel asks again for the one that it chooses.
 */
export class PrincipalGate {
  readonly #ledger: Pick<Ledger, 'identity' | 'read'>
  readonly #registry: Registry

  constructor(ledger: Pick<Ledger, 'identity' | 'read'>, registry: Registry) {
    this.#ledger = ledger
    this.#registry = registry
  }

  /** Why a run may not begin: some code that it reaches is not granted to who starts it. */
  refusal(
    runId: RunId,
    prepared: Compiled,
    start: { readonly principal: Json; readonly inputs: Json }
  ): TallyError<'run.not_permitted'> | undefined {
    // Inputs are copied when they are asked for: not for the owner.
    const { principal } = start
    if (isOwner(principal)) return undefined
    const by = principalIn(principal)
    const lacking = this.#reached(prepared, start.inputs).flatMap((used) => {
      const capabilities = this.#lacking(by, used)
      return capabilities.length === 0 ? [] : [{ ...used, capabilities }]
    })
    return lacking.length === 0 ? undefined : notPermitted(runId, by, lacking)
  }

  /** Why an effect is not sent: a grant was taken back meanwhile, or was never asked for. */
  refusesEffect: NonNullable<PumpHost['refusesEffect']> = ({ effect, principal, ...rest }) => {
    if (isOwner(principal)) return undefined
    const used = usedFor(effect, rest)
    const [capability] = this.#lacking(principalIn(principal), used)
    if (capability === undefined) return undefined
    const { codeHash, name: code } = used
    const details = { capability, code, codeHash, effect }
    return { reason: 'not_permitted', definite: true, details }
  }

  /** Whether a principal may use a capability of a code. */
  may(principal: Principal, used: UsedCode): boolean {
    return this.#lacking(principal, used).length === 0
  }

  #lacking(principal: Principal | undefined, used: UsedCode): readonly string[] {
    const { codeHash, capabilities } = used
    const { identity } = this.#ledger
    return principalLacks(stateOf(this.#ledger), { identity, principal, codeHash, capabilities })
  }

  /** All code that a run can come to, by its hash. */
  #reached(prepared: Compiled, inputs: Json): readonly UsedCode[] {
    const parts = { registry: this.#registry, ledger: this.#ledger }
    const { blocks, packages, ofTurns } = reachedProviders(prepared, inputs, parts)
    const found = [
      ...blocks.map((block) => withTurns(this.#used(block), block, ofTurns)),
      ...packages.map(usedPackage)
    ]
    const byHash = new Map(found.flatMap((used) => (used ? [[used.codeHash, used]] : [])))
    return [...byHash.values()]
  }

  #used(block: Block): UsedCode | undefined {
    return usedBlock(block, (effect) => this.#registry.provider(effect))
  }
}

/** What sending an effect takes: the code's own name, and the effect's where that is declared. */
function usedFor(
  effect: string,
  { block, attribution, request }: Pick<AskedEffect, 'attribution' | 'block' | 'request'>
): UsedCode {
  const { id, codeHash } = attribution?.provider ?? { id: block.name, codeHash: block.codeHash }
  const declared = attribution?.capabilitiesDeclared ?? block.capabilities
  const { name } = versionedName(id)
  // Which tool or adapter it is stands in a document, not in the code of a turn.
  const isOwn = declared.includes(effect) || effect.startsWith(AGENT_TOOL_EFFECTS)
  const adapter = name === AGENT_TURN_BLOCK && effect === AGENT_TURN_BLOCK ? adapterIn(request) : []
  return { name, codeHash, capabilities: isOwn ? [name, effect] : [name, ...adapter] }
}

/** The adapter that does a turn stands in what is asked of it. */
function adapterIn(request: Json): readonly string[] {
  const kind = isJsonObject(request) ? request['adapterKind'] : undefined
  return typeof kind === 'string' ? [`${AGENT_ADAPTERS}${kind}`] : []
}

/** The code of turns with the adapters and the tools that a document gives them. */
function withTurns(
  used: UsedCode | undefined,
  { name }: Block,
  ofTurns: readonly string[]
): UsedCode | undefined {
  if (used === undefined || name !== AGENT_TURN_BLOCK) return used
  return { ...used, capabilities: [...used.capabilities, ...new Set(ofTurns)] }
}

function notPermitted(
  runId: RunId,
  by: Principal | undefined,
  lacking: readonly UsedCode[]
): TallyError<'run.not_permitted'> {
  const { kind, id } = by ?? { kind: 'caller', id: 'without a name' }
  const missing = lacking.map(({ name, capabilities }) => `${name}: ${capabilities.join(', ')}`)
  return blockError('run.not_permitted', {
    runId,
    principal: `${kind} ${id}`,
    missing: missing.join('; '),
    capability: lacking[0]?.capabilities[0] ?? '',
    codeHash: lacking[0]?.codeHash ?? '',
    command: lacking.map((used) => `tally grant --agent ${id} ${grantable(used)}`).join(' && ')
  })
}

/**
 * What is granted without further words is all that a code declares; what documents choose for
 * turns is none of that.
 */
function grantable({ name, capabilities }: UsedCode): string {
  return capabilities.some(isOfTurns) ? [name, ...capabilities].join(' ') : name
}

/** Whether a capability is one of the code of turns that a document chooses. */
export function isOfTurns(capability: string): boolean {
  return [AGENT_TOOL_EFFECTS, AGENT_ADAPTERS].some((prefix) => capability.startsWith(prefix))
}
