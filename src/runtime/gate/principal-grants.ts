import {
  AGENT_TURN_BLOCK,
  LEDGER_READ,
  PRINCIPAL_GRANTS_PREFIX,
  type Principal,
  principalGrantIn,
  principalGrantsOf,
  principalIn,
  stateOf
} from '../../capability/index.js'
import {
  isJsonObject,
  type Json,
  type JsonObject,
  shownText,
  versionedName
} from '../../core/index.js'
import { type IntentReply, KERNEL_HASH, type UsedCode, usedBlock } from '../../intent/index.js'
import type { Ledger } from '../../ledger/index.js'
import type { Packages } from '../code/packages.js'
import type { Registry } from '../code/registry.js'
import type { AskedIntent } from './asked-intent.js'
import { isOfTurns } from './principal-gate.js'
import { refusal } from './refusal.js'

/** What looking up the code of a grant takes. */
export interface GrantingParts {
  readonly ledger: Ledger
  readonly registry: Registry
  readonly packages: Pick<Packages, 'list'>
}

/** One capability of one code that a principal may use, as it is shown. */
export interface PrincipalGrant {
  readonly principal: Json
  readonly codeHash: string
  /** Name of the code when it was granted: `name@version` of a block, id of a package. */
  readonly subject: string
  readonly capability: string
  readonly by: Json
  /** Integer seconds. */
  readonly at: Json
}

/** What grants of the kernel's own code are about. */
export const ledgerReading: UsedCode = {
  name: LEDGER_READ,
  codeHash: KERNEL_HASH,
  capabilities: [LEDGER_READ]
}

/**
 * `system.grant` and `system.revoke` with `principal` and `subject`, as people ask: the subject is
 * a block, a package, a code hash or `ledger.read`, and without `capabilities` all are meant. The
 * intent that is done names the code by its hash. Undefined for what is not asked in this way.
 */
export function resolvePrincipalGrant(
  parts: GrantingParts,
  asked: AskedIntent
): Promise<IntentReply> | undefined {
  const { principal: given, subject, codeHash } = asked.intent.payload
  const principal = principalIn(given)
  if (principal === undefined || typeof subject !== 'string' || codeHash !== undefined) {
    return undefined
  }
  return changed(parts, asked, { principal, subject })
}

async function changed(
  parts: GrantingParts,
  { id, intent: { action, payload }, go }: AskedIntent,
  { principal, subject }: { readonly principal: Principal; readonly subject: string }
): Promise<IntentReply> {
  const found =
    action === 'system.grant'
      ? [await codeOf(parts, subject)]
      : await grantedTo(parts, principal, subject)
  const [code, ...others] = found
  if (code === undefined) {
    const what = action === 'system.grant' ? 'registered or installed' : 'granted to it'
    const problem = `no code that is ${what} has the name or hash ${subject}`
    return refusal(id, action, 'unknown_code', { problem })
  }
  if (others.length > 0) {
    const problem = `${subject} has several: ${found.map((one) => one?.name).join(', ')}`
    return refusal(id, action, 'ambiguous_code', { problem })
  }
  const { capabilities = [...code.capabilities] } = payload
  const names = Array.isArray(capabilities) ? (capabilities as readonly Json[]).map(String) : []
  const unknown = names.filter((name) => !isCapabilityOf(code, name))
  if (unknown.length > 0) {
    const only = code.capabilities.join(', ')
    const problem = `${code.name} has no ${unknown.join(', ')}, only ${only}`
    return refusal(id, action, 'unknown_capability', { problem, unknown })
  }
  const { kind, id: name } = principal
  return go({
    principal: { kind, id: name },
    subject: code.name,
    codeHash: code.codeHash,
    capabilities
  })
}

function isCapabilityOf({ name, capabilities }: UsedCode, capability: string): boolean {
  if (capabilities.includes(capability)) return true
  const isTurn = versionedName(name).name === AGENT_TURN_BLOCK
  return isTurn && isOfTurns(capability)
}

async function codeOf(parts: GrantingParts, subject: string): Promise<UsedCode | undefined> {
  if (subject === LEDGER_READ) return ledgerReading
  const { registry, packages } = parts
  await registry.rooms.loadForBlocks(subject)
  const block =
    registry.block(subject) ?? registry.blocks().find(({ codeHash }) => codeHash === subject)
  if (block !== undefined) return usedBlock(block, (effect) => registry.provider(effect))
  const installed = packages
    .list(() => false)
    .find(({ id, codeHash }) => id === subject || codeHash === subject)
  if (installed === undefined) return undefined
  const { id, codeHash, capabilities } = installed
  return { name: id, codeHash, capabilities: [id, ...capabilities.map(({ name }) => name)] }
}

/** What a principal was granted of the code of this name or hash; it need not be here any more. */
async function grantedTo(
  parts: GrantingParts,
  principal: Principal,
  subject: string
): Promise<readonly UsedCode[]> {
  const byHash = new Map<string, UsedCode>()
  for (const grant of await principalGrants(parts, principal)) {
    const { codeHash, subject: name, capability } = grant
    const isMeant = [codeHash, name, versionedName(name).name].includes(subject)
    if (!isMeant) continue
    const { capabilities = [] } = byHash.get(codeHash) ?? {}
    // A key of the kernel's table: it holds a hash.
    const hash = codeHash as UsedCode['codeHash']
    byHash.set(codeHash, { name, codeHash: hash, capabilities: [...capabilities, capability] })
  }
  return [...byHash.values()]
}

/** Grants to one principal, or to all, in the order of their keys. */
export async function principalGrants(
  { ledger }: Pick<GrantingParts, 'ledger'>,
  principal?: Principal
): Promise<readonly PrincipalGrant[]> {
  const { identity } = ledger
  const all = `${PRINCIPAL_GRANTS_PREFIX}${identity}/`
  const prefix = principal === undefined ? all : principalGrantsOf({ identity, principal })
  const keys = prefix === undefined ? [] : await ledger.list(prefix)
  const state = stateOf(ledger)
  return keys.flatMap((key) => {
    const said = principalGrantIn(key.slice(all.length))
    const entry = state.get(key)
    if (said === undefined || entry === undefined) return []
    const { by = null, at = null, subject } = isJsonObject(entry) ? entry : ({} as JsonObject)
    return [{ ...said, subject: shownText(subject ?? said.codeHash), by, at }]
  })
}
