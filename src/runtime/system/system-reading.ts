import { GRANTS_PREFIX, stateOf } from '../../capability/index.js'
import { isHash, type Json, type JsonObject } from '../../core/index.js'
import { KERNEL_HASH, KERNEL_VERSION, type SystemIntent } from '../../intent/index.js'
import type { Ledger } from '../../ledger/index.js'
import type { RuntimeAudit } from '../audit/verifying.js'
import type { Packages } from '../code/packages.js'
import { principalGrants } from '../gate/principal-grants.js'
import { publishedDocuments } from '../gate/published.js'
import type { IntegrityLock } from '../opening/integrity-lock.js'
import { repairOpen } from '../opening/repair-open.js'

export interface ReadingParts {
  readonly ledger: Ledger
  readonly packages: Packages
  readonly audit: RuntimeAudit
  readonly lock: IntegrityLock
  readonly realPath: string | undefined
}

/** One grant, as it is shown. */
export interface PermissionEntry {
  readonly codeHash: string
  /** Id of the package whose installed code it is, or null. */
  readonly package: string | null
  readonly capability: string
  readonly by: Json
  /** Integer seconds. */
  readonly at: Json
}

type Reading = (parts: ReadingParts, payload: JsonObject) => Promise<Json>

const readings: Partial<Record<SystemIntent, Reading>> = {
  'system.corehash': async () => ({ kernel: KERNEL_VERSION, coreHash: KERNEL_HASH }),
  'system.integrity': async ({ ledger, packages }) => ({
    ...integrityOf({ ledger, packages })
  }),
  'system.packages': async ({ ledger, packages }) => ({
    packages: plain(packages.list(granted(ledger))),
    refused: plain(packages.refused)
  }),
  'system.permissions': async (parts) => ({
    permissions: plain(await permissionsOf(parts)),
    principals: plain(await principalGrants(parts))
  }),
  'system.published': async ({ ledger }) => ({
    published: plain(await publishedDocuments(ledger))
  }),
  'system.recover': async (parts, payload) => plain(await repairOpen(parts, payload)),
  'system.replay': async ({ audit }, { receipt }) => {
    if (typeof receipt !== 'number' && !isHash(receipt)) {
      return plain(await audit.verify({ executions: 2 }))
    }
    return plain((await audit.replayReceipt(receipt)) ?? null)
  },
  'system.safe': async ({ ledger }) => {
    const { mode, cause = null } = ledger.state()
    return { mode, safe: mode === 'safe', cause: plain(cause) }
  },
  'system.stateroot': async ({ ledger }) => ({ ...ledger.roots() }),
  'system.verify': async ({ audit }) => plain(await audit.verify({}))
}

/**
 * Answers a system intent that changes nothing (K2): without a receipt, and in safe mode too.
 * Undefined for every other intent.
 */
export function readSystem(
  parts: ReadingParts,
  action: SystemIntent,
  payload: JsonObject
): Promise<Json> | undefined {
  return readings[action]?.(parts, payload)
}

/** Grants of this ledger's identity, by package and capability. */
export async function permissionsOf({
  ledger,
  packages
}: Pick<ReadingParts, 'ledger' | 'packages'>): Promise<readonly PermissionEntry[]> {
  const prefix = `${GRANTS_PREFIX}${ledger.identity}/`
  const ids = new Map<string, string>()
  for (const { manifest, codeHash } of packages.packageCache.registry.packages.values()) {
    ids.set(codeHash, manifest.id)
  }
  const keys = await ledger.list(prefix)
  const state = stateOf(ledger)
  return keys.flatMap((key) => {
    const [codeHash = '', capability = ''] = key.slice(prefix.length).split('/')
    const entry = state.get(key)
    if (entry === undefined) return []
    const { by = null, at = null } = entry as JsonObject
    return [{ codeHash, package: ids.get(codeHash) ?? null, capability, by, at }]
  })
}

/** Whether a capability is granted to a code now. */
export function granted(ledger: Ledger): (codeHash: string, capability: string) => boolean {
  return (codeHash, capability) =>
    ledger.read(`${GRANTS_PREFIX}${ledger.identity}/${codeHash}/${capability}`) !== undefined
}

/** What the integrity lock holds: the head root and the code of every installed package (K10). */
export function integrityOf({
  ledger,
  packages
}: Pick<ReadingParts, 'ledger' | 'packages'>): JsonObject {
  const { mode } = ledger.state()
  const { head } = ledger.roots()
  const codeHashes = [...packages.packageCache.registry.packages.values()].map(
    ({ manifest, codeHash }) => [manifest.id, codeHash] as const
  )
  return {
    mode,
    headRoot: head,
    coreHash: KERNEL_HASH,
    codeHashes: Object.fromEntries(codeHashes),
    refused: plain(packages.refused)
  }
}

/** Plain data by construction; its type only names the members. */
function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json
}
