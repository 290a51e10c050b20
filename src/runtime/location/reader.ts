import { stat } from 'node:fs/promises'
import type {
  ReceiptReplay,
  RecordingReplay,
  RunRecording,
  VerificationReport
} from '../../audit/index.js'
import type { JournalEntry, Provider } from '../../block/index.js'
import {
  blockError,
  type Hash,
  type IdentityId,
  isHash,
  isJsonObject,
  type Json,
  ledgerError,
  type PublicKey,
  type RunId
} from '../../core/index.js'
import type { Signer } from '../../identity/index.js'
import type { PackageCache } from '../../intent/index.js'
import {
  type GivenNote,
  holdForReading,
  inspectLocation,
  mainIdentity,
  openLedger,
  openSnapshot,
  type ReadableStore,
  type Store,
  type SubjectKeys,
  storedCommits,
  type VerificationKey,
  watchedStore,
  wholeStore
} from '../../ledger/index.js'
import { connectOwner, type OwnerClient } from '../../owner/index.js'
import type { RecheckOptions, TransactionCheck } from '../audit/reconfirm.js'
import type { OpenRuns, RunReadiness } from '../audit/upgrade-check.js'
import type { TallyConfig } from '../code/config.js'
import type { RunPrivacy } from '../code/private-code.js'
import type { Registrations } from '../code/registrations.js'
import type { Registry } from '../code/registry.js'
import { IntegrityLock, readKept } from '../opening/integrity-lock.js'
import type { VerificationProgress } from '../queries/query-types.js'
import type { RecordingPart } from '../service/recording-parts.js'
import { keysBeside, subjectKeysOf, withLock } from './blob-key.js'
import type { LedgerReader } from './reading-service.js'

/** Which identity of a location is meant. */
export interface NamedIdentity {
  /** Default: the one that the location was made with. */
  readonly identity?: IdentityId | undefined
}

/**
 * Opens a ledger of this machine for reading, or a snapshot file: no key, no passphrase, no blocks,
 * nothing written.
 * Throws `ledger.not_found`, `ledger.locked`, and the other codes of opening.
 */
export async function openReader(
  location: string,
  options: NamedIdentity = {}
): Promise<LedgerReader> {
  const { openSnapshotReader, serviceForReading } = await import('./reading-service.js')
  if (await isFile(location)) return openSnapshotReader(location, noSigner)
  const held = await holdForReading(location)
  const { store } = held
  const { realPath } = held.location
  try {
    const identity = identityOf(held, options)
    const subjects = subjectKeysOf(held.location.realPath, identity)
    const signer = noSigner
    const ledger = await openLedger({ store, identity, subjects, signer, readOnly: true })
    const parts = { ledger, realPath, kernel: ANY_KERNEL, codeHashes: async () => ({}) }
    const cause = await new IntegrityLock({ ...parts, isKeyed: false })
      .check()
      .catch(() => undefined)
    if (cause !== undefined && ledger.state().mode !== 'safe') ledger.enterSafeMode(cause)
    const verify = async (
      notes: readonly GivenNote[],
      onRecord?: () => void,
      archives: readonly string[] = []
    ) => {
      const whole = archives.length === 0 ? store : await wholeStore(store, identity, archives)
      const told = onRecord === undefined ? whole : watchedStore(whole, identity, onRecord)
      const opened = { store: told, identity, subjects, realPath }
      return verifyStore({ ...opened, notes, code: undefined })
    }
    const isFollower = held.location.marker.followers?.includes(identity) ?? false
    const opened = { ledger, store, identity, location: realPath, isFollower }
    const service = serviceForReading(opened, verify)
    return {
      service,
      close: async () => {
        await ledger.close()
        await held.close()
      }
    }
  } catch (error) {
    await held.close()
    throw error
  }
}

/** A reader does nothing that a kernel rules on. */
const ANY_KERNEL = 'Infinity'

/**
 * Verifies the ledger of a location by its bytes, also one that does not open, and without its
 * lock; with the code that is registered, every step is executed again.
 * Throws only for what keeps the bytes from being read: `ledger.not_found`, `ledger.locked`,
 * `ledger.corrupt` (the store itself), `store.open_failed`.
 */
export async function verifyLocation(
  location: string,
  options: NamedIdentity & {
    readonly notes: readonly GivenNote[]
    readonly code?: Registrations | undefined
    /** Paths of all archives of the ledger: then it is verified as if nothing was archived. */
    readonly archives?: readonly string[]
    /** How often each step is executed again; 1 unless told otherwise. */
    readonly executions?: number
    /** Reads the key file, where it can, to check what only the blob key can (L12). */
    readonly keyed?: { readonly passphrase: string | undefined }
    /** Hears how far it is, with each commit record that is read. */
    readonly onProgress?: ((progress: VerificationProgress) => void) | undefined
  }
): Promise<VerificationReport> {
  const held = await holdForReading(location)
  try {
    const { notes, code, executions = 1, keyed, archives = [], onProgress } = options
    const identity = identityOf(held, options)
    const given = held.store
    const whole = archives.length === 0 ? given : await wholeStore(given, identity, archives)
    const phase = code === undefined ? 'records' : 'executing'
    const store = await toldStore(whole, { identity, phase, onProgress })
    const { realPath } = held.location
    const keys = await keysBeside(realPath, identity, keyed)
    return await verifyStore({ store, identity, realPath, ...keys, notes, code, executions })
  } finally {
    await held.close()
  }
}

async function toldStore(
  store: Store,
  told: {
    readonly identity: IdentityId
    readonly phase: VerificationProgress['phase']
    readonly onProgress: ((progress: VerificationProgress) => void) | undefined
  }
): Promise<Store> {
  const { identity, phase, onProgress } = told
  if (onProgress === undefined) return store
  const total = await storedCommits(store, identity)
  let read = 0
  return watchedStore(store, identity, () => {
    read += 1
    onProgress({ phase, done: Math.min(read, total), total })
  })
}

/** Does one receipt of a location again. Undefined when there is none; throws as verifying does. */
export async function replayLocation(
  location: string,
  options: NamedIdentity & { readonly which: Hash | number; readonly code: Registrations }
): Promise<ReceiptReplay | undefined> {
  const { which, code } = options
  const held = await holdForReading(location)
  try {
    const identity = identityOf(held, options)
    const { replayReceipt } = await import('../../audit/index.js')
    const { registry, close } = await codeOf(code, { identity, location: held.location.realPath })
    try {
      const subjects = subjectKeysOf(held.location.realPath, identity)
      const { store } = held
      return await replayReceipt({ store, identity, subjects, which, code: registry })
    } finally {
      await close()
    }
  } finally {
    await held.close()
  }
}

/**
 * Asks of each open run of a ledger, held or not, whether it can continue with this code. Throws
 * what registering the code throws.
 */
export async function* checkUpgradeWith(
  registrations: Registrations,
  source: OpenRuns,
  location: string
): AsyncGenerator<RunReadiness> {
  const { checkUpgrade } = await import('../audit/upgrade-check.js')
  const { identity } = source
  const { registry, close } = await codeOf(registrations, { identity, location })
  try {
    yield* checkUpgrade(source, registry)
  } finally {
    await close()
  }
}

async function verifyStore(options: {
  readonly store: Store
  readonly identity: IdentityId
  readonly notes: readonly GivenNote[]
  readonly code: Registrations | undefined
  readonly executions?: number
  /** Where the content store of packages lies. */
  readonly realPath?: string
  readonly key?: VerificationKey | undefined
  readonly subjects: SubjectKeys
}): Promise<VerificationReport> {
  const { code: registrations, realPath, ...rest } = options
  const { verifyLedgerDeep } = await import('../../audit/index.js')
  const { identity, key } = rest
  const kept = realPath === undefined ? undefined : await readKept(realPath, identity, key)
  const compared = key === undefined ? kept : undefined
  if (registrations === undefined) {
    return withLock(await verifyLedgerDeep({ ...rest, kept }), compared)
  }
  const { registry, close } = await codeOf(registrations, { identity, location: realPath })
  try {
    return withLock(await verifyLedgerDeep({ ...rest, kept, code: registry }), compared)
  } finally {
    await close()
  }
}

/** What is registered, with the kernel and the packages of a location. */
export async function codeOf(
  registrations: Registrations,
  { identity, location }: { readonly identity: IdentityId; readonly location: string | undefined }
): Promise<{
  readonly registry: Registry
  readonly packageCache: PackageCache
  close(): Promise<void>
}> {
  const { Registry } = await import('../code/registry.js')
  const { pipelineFor } = await import('../intent/intent-pipeline.js')
  const registry = await Registry.open(registrations)
  const { packageCache, sandbox } = pipelineFor(registry, { identity, realPath: location })
  return { registry, packageCache, close: () => sandbox.close() }
}

/** Throws `ledger.identity_missing` for one that the location does not have. */
export function identityOf(
  { location }: Pick<ReadableStore, 'location'>,
  { identity }: NamedIdentity
): IdentityId {
  const { marker, realPath: path } = location
  const named = identity ?? mainIdentity(marker)
  if (named === undefined) throw ledgerError('ledger.not_found', { path })
  if (marker.identities.includes(named)) return named
  throw ledgerError('ledger.identity_missing', { identity: named })
}

/** A ledger that is only read signs nothing. */
export const noSigner: Signer = {
  publicKey: '0'.repeat(64) as PublicKey,
  sign() {
    throw ledgerError('ledger.read_only', {})
  },
  signMany() {
    throw ledgerError('ledger.read_only', {})
  }
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true
}

export interface RecordOptions extends NamedIdentity {
  /** Opens the key file, with which the journal of a run that has not ended is authenticated. */
  readonly passphrase?: string | undefined
}

/**
 * Reads one run of a ledger: of a directory, of the process that holds it, or of a snapshot file.
 * Throws `run.not_found`, and what opening for reading throws.
 */
export async function recordRunAt(
  location: string,
  run: RunId,
  options: RecordOptions = {}
): Promise<RunRecording> {
  if (await isFile(location)) {
    const { store, identity } = await openSnapshot(location)
    return recordIn({ store, identity }, run)
  }
  const found = await inspectLocation(location)
  if (found === undefined) throw ledgerError('ledger.not_found', { path: location })
  const owner = await connectOwner(found.realPath, { identity: options.identity })
  if (owner === undefined) return recordRunHere(location, run, options)
  try {
    return await recordRunOf(owner, run)
  } finally {
    owner.close()
  }
}

/** The same of the process that holds a ledger. */
export async function recordRunOf(owner: OwnerClient, run: RunId): Promise<RunRecording> {
  // The other process is of this program, and writes what is declared.
  const parts = owner.stream('recording', { id: run }) as AsyncIterable<unknown>
  const { joinedRecording } = await import('../service/recording-parts.js')
  return joinedRecording(parts as AsyncIterable<RecordingPart>)
}

/** The same of a directory that no process holds. */
export async function recordRunHere(
  location: string,
  run: RunId,
  options: RecordOptions = {}
): Promise<RunRecording> {
  const held = await holdForReading(location)
  try {
    const identity = identityOf(held, options)
    const { passphrase } = options
    const keys = await keysBeside(held.location.realPath, identity, { passphrase })
    return await recordIn({ store: held.store, identity, ...keys }, run)
  } finally {
    await held.close()
  }
}

async function recordIn(
  ledger: {
    readonly store: Store
    readonly identity: RunRecording['identity']
    readonly key?: VerificationKey | undefined
    readonly subjects?: SubjectKeys
  },
  run: RunId
): Promise<RunRecording> {
  const { recordRun } = await import('../../audit/index.js')
  const recording = await recordRun({ ...ledger, run })
  if (recording === undefined) throw blockError('run.not_found', { runId: run })
  return recording
}

/** What a recorded run is done again with. */
export type CodeAtHand = Omit<TallyConfig, 'durability' | 'closedPaths'>

export interface ReplayedRecording {
  readonly replay: RecordingReplay
  /** With no more of the state than was read. */
  readonly narrowed: RunRecording
  /** Whether a file of it would have what code keeps private. */
  readonly privacy: RunPrivacy
}

/**
 * Does a recorded run again with the code at hand, and performs nothing. Packages come from the
 * directories of the configuration, then from the content store of `location`. Throws what
 * registering the code throws.
 */
export async function replayRecordingWith(
  recording: RunRecording,
  code: CodeAtHand,
  location?: string
): Promise<ReplayedRecording> {
  const { identity } = recording
  const { packages = [], ...registrations } = code
  const { registry, packageCache, close } = await codeOf(registrations, { identity, location })
  try {
    const { holdPackages } = await import('../code/packages.js')
    await holdPackages(packageCache, packages, packagesIn(recording))
    const { replayRecording } = await import('../../audit/index.js')
    const { privacyOf } = await import('../code/private-code.js')
    const privacy = await privacyOf(recording, registry)
    return { privacy, ...(await replayRecording(recording, registry)) }
  } finally {
    await close()
  }
}

/** What chains say now of the transactions of a run, by the providers at hand; nothing changes. */
export async function askChainsWith(
  providers: readonly Provider[],
  run: { readonly entries: readonly JournalEntry[]; readonly definition: Json },
  options: Pick<RecheckOptions, 'withinMs'>
): Promise<readonly TransactionCheck[]> {
  const { askChains } = await import('../audit/reconfirm.js')
  const registry = { provider: (name: string) => providers.find((one) => one.name === name) }
  return askChains(run.entries, options, { run, registry })
}

/** Code of packages that the run has used. */
function packagesIn({ entries }: RunRecording): readonly Hash[] {
  const hashes = entries.flatMap(({ entry, receipt }) => {
    const provider = isJsonObject(entry) ? entry['provider'] : undefined
    const settled = isJsonObject(provider) ? provider['codeHash'] : undefined
    return [settled, receipt?.record.inputPayload.provider.codeHash]
  })
  return [...new Set(hashes.filter(isHash))]
}
