import { type IdentityId, isTallyError, ledgerError, type StateRoot } from '../../core/index.js'
import { publicKeyBytes, verify } from '../../identity/index.js'
import { keysAt, scannedTo } from '../archive/boundary.js'
import type { ArchivedHistory } from '../archive/history.js'
import { type ChainHead, genesisHead, headAfter } from '../chain/chain-head.js'
import { codesOf } from '../derived/codes.js'
import { Derived } from '../derived/derived.js'
import { firstWatermark, type Watermark } from '../derived/watermark.js'
import { unwrapText, unwrapValue, wrapValue } from '../envelope.js'
import { StoreKeys } from '../keys.js'
import { OpenLedger } from '../ledger.js'
import type { CreateLedgerOptions, OpenLedgerOptions } from '../ledger-api.js'
import { LogFrontier } from '../log/index.js'
import { causeOf } from '../mode.js'
import { InstalledPackages, PACKAGE_KEY_PREFIX } from '../receipt/packages.js'
import { encodeHead, type Head, parseHead } from '../record/head.js'
import { corrupt, parseRecord } from '../record/record.js'
import { rootOf, StateTree } from '../state/index.js'
import type { Store } from '../stores/port.js'
import { InMemoryDerived } from './in-memory-derived.js'
import { checkLastReceipt, type LastRecord } from './last-receipt.js'
import { ChainScan, type ScannedChain } from './scan.js'
import type { StartingPoint } from './start.js'
import { startingPoint } from './starting-point.js'

/**
 * Writes the first head of an identity: no receipts, an empty state, epoch 0; then opens it.
 * Throws `ledger.identity_exists` when the store has one.
 */
export async function createLedger(options: CreateLedgerOptions): Promise<OpenLedger> {
  const { store, identity } = options
  if (await beginLedger(store, identity)) return openLedger(options)
  throw ledgerError('ledger.identity_exists', { identity })
}

/** Writes the first head of an identity; false when the store has one already. */
export async function beginLedger(store: Store, identity: IdentityId): Promise<boolean> {
  const keys = new StoreKeys(identity)
  const headBytes = wrapValue(keys.head, encodeHead(emptyHead(identity)))
  const [created] = await store.commit([
    {
      condition: { key: keys.head, value: undefined },
      puts: [[keys.head, headBytes]],
      deletes: []
    }
  ])
  return created === true
}

/**
 * Opens an identity's ledger (L4): checks checksums, contiguity, every receipt hash and link, the
 * head and the signature that endorses it, and the watermarks of derived records; then takes the
 * next epoch, which fences off earlier writers (L2). Anything wrong gives a ledger in safe mode.
 * Throws `ledger.identity_missing`, `ledger.newer_version`, `ledger.wrong_signer`, `ledger.fenced`.
 */
export async function openLedger(options: OpenLedgerOptions): Promise<OpenLedger> {
  const { store, identity, blobKey, create, readOnly = false } = options
  const keys = new StoreKeys(identity)
  let headBytes = store.get(keys.head)
  if (headBytes === undefined && (await hasCommits(store, keys))) headBytes = lostHead
  if (headBytes === undefined) {
    const creates = create === 'if-absent' && blobKey !== undefined
    if (creates) return createLedger({ ...options, blobKey })
    throw ledgerError('ledger.identity_missing', { identity })
  }
  const found = await check({
    store,
    keys,
    identity,
    headBytes,
    blobKey,
    readOnly
  })
  const { publicKey } = found.chainHead
  const { signer } = options
  if (found.unsafe === undefined && !readOnly && signer.publicKey !== publicKey) {
    throw ledgerError('ledger.wrong_signer', {
      identity,
      expected: publicKey,
      actual: signer.publicKey
    })
  }
  const canWrite = !readOnly && found.unsafe === undefined
  const owned = canWrite ? await takeEpoch(store, keys, identity, found.head, headBytes) : found
  return new OpenLedger({
    store,
    keys,
    identity,
    signer,
    blobKey,
    subjects: options.subjects,
    head: owned.head,
    headBytes: owned.headBytes,
    frontier: found.frontier,
    chainHead: found.chainHead,
    derived: found.derived,
    readOnly,
    archived: found.archived,
    ...(found.unsafe === undefined ? {} : { unsafe: found.unsafe })
  })
}

/** Of a ledger that has records, and that so is none to begin: read as what it is, damaged. */
const lostHead = new Uint8Array()

async function hasCommits(store: Store, keys: StoreKeys): Promise<boolean> {
  for await (const _ of store.entries(keys.allCommits())) return true
  return false
}

interface Found {
  readonly head: Head
  readonly headBytes: Uint8Array
  readonly chainHead: ChainHead
  readonly frontier: LogFrontier
  readonly derived: Derived
  readonly archived: ArchivedHistory | undefined
  readonly unsafe?: { readonly code: string; readonly message: string }
}

interface CheckOptions {
  readonly store: Store
  readonly keys: StoreKeys
  readonly identity: IdentityId
  readonly headBytes: Uint8Array
  readonly blobKey: Uint8Array | undefined
  readonly readOnly: boolean
}

async function check(options: CheckOptions): Promise<Found> {
  const { keys, identity, headBytes } = options
  const { head, problem } = headIn(keys, identity, headBytes)
  // What a lost head was made of is read all the same, and nothing of it is written.
  const reading = problem === undefined ? options : { ...options, readOnly: true }
  let start: StartingPoint | undefined
  try {
    start = await startingPoint(reading)
    if (problem === undefined) return await checkChain(reading, head, start)
    return { ...(await checkChain(reading, undefined, start)), unsafe: causeOf(problem) }
  } catch (error) {
    if (isTallyError(error, 'ledger.newer_version')) throw error
    // Reads work as far as they can: the index and the values that are whole.
    const derived = start?.derived ?? nothingDerived(options)
    const { frontier } = derived.watermark
    const { receipts, receiptHash } = problem === undefined ? head : derived.watermark
    const chainHead = { ...genesisHead(identity), receipts, receiptHash }
    const archived = start?.archived
    const unsafe = causeOf(problem ?? error)
    return { head, headBytes, chainHead, frontier, derived, archived, unsafe }
  }
}

/** The head; where none can be read, that of an empty ledger. Throws `ledger.newer_version`. */
function headIn(
  keys: StoreKeys,
  identity: IdentityId,
  bytes: Uint8Array
): { readonly head: Head; readonly problem?: unknown } {
  try {
    if (bytes === lostHead) throw corrupt(keys.head, 'it is missing')
    return { head: parseHead(keys.head, unwrapText(keys.head, bytes)) }
  } catch (problem) {
    if (isTallyError(problem, 'ledger.newer_version')) throw problem
    return { head: emptyHead(identity), problem }
  }
}

function nothingDerived({ store, keys, blobKey }: CheckOptions): Derived {
  return new Derived({
    store: new InMemoryDerived(store, keys),
    keys,
    codes: codesOf(blobKey),
    watermark: firstWatermark,
    pagedTree: StateTree.empty
  })
}

/** `stored`: undefined where no head can be read. Then it is what the records give. */
async function checkChain(
  options: CheckOptions,
  stored: Head | undefined,
  start: StartingPoint
): Promise<Found> {
  const { store, keys, headBytes } = options
  const { derived, rebuild, watermark, writes, archived } = start
  const scan = scanFrom(options, archived)
  let last: LastRecord | undefined
  for await (const [key, value] of store.entries(keys.commitsFrom(scan.chain.seq))) {
    const body = unwrapValue(key, value)
    const { receipts } = scan.chain
    const { seq } = scan.next(key, body)
    if (scan.chain.receipts > receipts) last = { key, body }
    if (seq + 1 === watermark.seq) checkWatermark(keys, watermark, scan.chain)
    if (rebuild.needs(seq)) {
      rebuild.add(key, seq, parseRecord(key, body).items)
      if (writes && derived.due()) await derived.write({ durable: 0, pages: false })
    }
  }
  const chain = scan.chain
  if (watermark.seq > chain.seq) throw corrupt(keys.derived, 'it covers commits that are missing')
  const chainHead = await chainHeadAt(store, keys, chain, rebuild.tree)
  const { frontier } = rebuild
  const { epoch } = stored ?? emptyHead(options.identity)
  const head = headAfter({ epoch, seq: chain.seq, chainHead, frontier })
  if (stored !== undefined) checkHead(keys, stored, head)
  checkSignature(keys, chain)
  if (last !== undefined) checkLastReceipt(last, chain, chainHead)
  // A reader writes nothing later: what was made anew must be whole now, proofs included.
  if (options.readOnly && writes) await derived.write({ durable: 0, pages: false })
  return { head, headBytes, chainHead, frontier, derived, archived }
}

/** What archives have is not read: the link of the first receipt behind them binds it. */
function scanFrom(
  { keys, identity }: CheckOptions,
  archived: ArchivedHistory | undefined
): ChainScan {
  if (archived === undefined) return new ChainScan(identity)
  const { boundary } = archived
  const publicKey = keysAt(identity, boundary.rotations)?.at(-1)
  if (publicKey === undefined) throw corrupt(keys.archived, 'a key rotation is not proved')
  return new ChainScan(identity, scannedTo(boundary, publicKey))
}

async function chainHeadAt(
  store: Store,
  keys: StoreKeys,
  chain: ScannedChain,
  tree: StateTree
): Promise<ChainHead> {
  let packages = InstalledPackages.none
  for await (const [key, value] of store.entries(keys.states(PACKAGE_KEY_PREFIX))) {
    packages = packages.changed(keys.stateKey(key), unwrapText(key, value))
  }
  const executionRoot: StateRoot = rootOf({
    publicKey: chain.publicKey,
    installedDApps: packages.hash,
    storage: tree.root(),
    commitment: chain.previousReceiptHash
  })
  const { publicKey, receipts, receiptHash } = chain
  return { publicKey, receipts, receiptHash, executionRoot, tree, packages }
}

function checkWatermark(keys: StoreKeys, watermark: Watermark, chain: ScannedChain): void {
  if (watermark.receipts !== chain.receipts || watermark.receiptHash !== chain.receiptHash) {
    throw corrupt(keys.derived, 'the derived records belong to another chain')
  }
}

const headFields = [
  ...(['seq', 'receipts', 'receiptHash', 'storageRoot'] as const),
  ...(['headRoot', 'logSize', 'logRoot'] as const)
]

function checkHead(keys: StoreKeys, stored: Head, computed: Head): void {
  for (const field of headFields) {
    if (stored[field] === computed[field]) continue
    const problem = `${field} is ${stored[field]}, and the records give ${computed[field]}`
    throw corrupt(keys.head, problem)
  }
}

function checkSignature(keys: StoreKeys, { receiptHash, lastSigned }: ScannedChain): void {
  if (receiptHash === null || lastSigned === undefined) return
  const valid = verify(
    Buffer.from(lastSigned.signature, 'hex'),
    Buffer.from(receiptHash, 'hex'),
    publicKeyBytes(lastSigned.publicKey)
  )
  if (!valid) throw corrupt(keys.head, 'the signature of the last receipt does not hold')
}

async function takeEpoch(
  store: Store,
  keys: StoreKeys,
  identity: IdentityId,
  found: Head,
  foundBytes: Uint8Array
): Promise<{ readonly head: Head; readonly headBytes: Uint8Array }> {
  const head = { ...found, epoch: found.epoch + 1 }
  const headBytes = wrapValue(keys.head, encodeHead(head))
  const [taken] = await store.commit([
    {
      condition: { key: keys.head, value: foundBytes },
      puts: [[keys.head, headBytes]],
      deletes: []
    }
  ])
  if (taken !== true) throw ledgerError('ledger.fenced', { ledger: identity })
  return { head, headBytes }
}

/** Before the first receipt. */
function emptyHead(identity: IdentityId): Head {
  const start = { chainHead: genesisHead(identity), frontier: LogFrontier.empty }
  return headAfter({ epoch: 0, seq: 0, ...start })
}
