import { isOwner, principalIn, principalLacks } from '../capability/index.js'
import type { Block, IntentPort } from '../code/index.js'
import type { Hash, IdentityId, JsonObject } from '../core/index.js'
import { recordedState } from './providers.js'

/** Code that acts in a run, as grants to principals name it (semantics.md K14). */
export interface UsedCode {
  /** `name@version` of a block, id of a package. */
  readonly name: string
  readonly codeHash: Hash
  /** Its own name, what it declares, and the effects that undo what it does. */
  readonly capabilities: readonly string[]
}

/** Undefined for a block of this library that touches nothing: it needs no grant. */
export function usedBlock(
  block: Block,
  provider: (effect: string) => Pick<Block, 'compensate'> | undefined = () => undefined
): UsedCode | undefined {
  if (block.touchesNothing === true || block.kernel !== undefined) return undefined
  const { name, version, codeHash, capabilities } = block
  const undone = [block, ...capabilities.map(provider)].flatMap((one) => {
    return typeof one?.compensate === 'string' ? [one.compensate] : []
  })
  const all = new Set([name, ...capabilities, ...undone])
  return { name: `${name}@${version}`, codeHash, capabilities: [...all] }
}

export function usedPackage(one: {
  readonly packageId: string
  readonly codeHash: Hash
  readonly declared: readonly string[]
}): UsedCode {
  const { packageId: name, codeHash, declared } = one
  return { name, codeHash, capabilities: [...new Set([name, ...declared])] }
}

/**
 * Fails an intent whose principal may not use what was chosen to do it, before that is named in
 * the journal: a replay, which chooses nothing, does not ask again. Read as part of the unit, so
 * that a grant taken back before the commit sends the unit back (L10).
 */
export function checkPrincipal(
  port: IntentPort,
  identity: IdentityId,
  usedCode: () => UsedCode | undefined
): void {
  if (port.recorded !== undefined || isOwner(port.principal)) return
  const principal = principalIn(port.principal)
  const used = usedCode()
  if (used === undefined) return
  const { name, codeHash, capabilities } = used
  const asked = { identity, principal, codeHash, capabilities }
  const lacking = principalLacks(recordedState(port), asked)
  const [capability] = lacking
  if (capability === undefined) return
  const by: JsonObject = principal === undefined ? {} : { kind: principal.kind, id: principal.id }
  port.fail('not_permitted', {
    principal: by,
    code: name,
    codeHash,
    capability,
    capabilities: [...lacking]
  })
}
