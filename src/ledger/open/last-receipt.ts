import { sha256Hex } from '../../core/index.js'
import type { ChainHead } from '../chain/chain-head.js'
import { parseWriteSet, type StoredChange } from '../chain/stored-write-set.js'
import { PACKAGE_KEY_PREFIX } from '../receipt/packages.js'
import { parseReceipt } from '../receipt/parse.js'
import { corrupt, parseRecord, type StoredReceiptText } from '../record/record.js'
import { hashKey, hashValue, rootOf } from '../state/index.js'
import type { ScannedChain } from './scan.js'

/** The commit record with the last receipt, as the scan has read it. */
export interface LastRecord {
  readonly key: string
  readonly body: Buffer
}

/**
 * Checks what is stored beside the last receipt against what was signed (L4): its input, its
 * result, and its write set, which has to lead from the root before it to the root after it. The
 * receipt alone is found by its hash; a changed result beside it is found here, before it is
 * returned or the receipt is executed again. Throws `ledger.corrupt`.
 */
export function checkLastReceipt(
  record: LastRecord,
  chain: ScannedChain,
  chainHead: ChainHead
): void {
  const { key, body } = record
  const stored = parseRecord(key, body).items.findLast(({ receipt }) => receipt !== undefined)
  if (stored?.receipt === undefined) return
  const problem = problemOf(stored.receipt, chain, chainHead)
  if (problem !== undefined) throw corrupt(key, `the last receipt: ${problem}`)
}

function problemOf(
  stored: StoredReceiptText,
  chain: ScannedChain,
  chainHead: ChainHead
): string | undefined {
  const parsed = parseReceipt(stored.text)
  if (!parsed.ok) return `${parsed.problem.field} is malformed`
  const { record: receipt } = parsed
  if (parsed.inputHash !== receipt.inputHash) return 'its input is another'
  if (sha256Hex(stored.result) !== receipt.resultHash) return 'its result is another'
  const changes = parseWriteSet(stored.writeSet)
  if (changes === undefined) return 'its write set is malformed'
  if (chainHead.executionRoot !== receipt.nextStateRoot) return 'the state after it is another'
  const wrong = changes.find((change) => !isInState(change, chainHead))
  if (wrong !== undefined) return `its write set names another value of ${wrong.key}`
  const before = rootBefore(changes, chain, chainHead)
  const isOther = before !== undefined && before !== receipt.previousStateRoot
  return isOther ? 'its write set begins with another state' : undefined
}

function isInState({ key, valueHash }: StoredChange, { tree }: ChainHead): boolean {
  const there = tree.get(hashKey(key))
  if (there === undefined || valueHash === undefined) return there === valueHash
  return Buffer.compare(there, valueHash) === 0
}

/** The root before the receipt; undefined where the write set does not tell which code it had. */
function rootBefore(
  changes: readonly StoredChange[],
  { lastSigned, beforePreviousHash }: ScannedChain,
  chainHead: ChainHead
): string | undefined {
  let { tree, packages } = chainHead
  for (const { key, before, beforeHash } of changes) {
    const hash = beforeHash ?? (before === undefined ? undefined : hashValue(before))
    tree = hash === undefined ? tree.delete(hashKey(key)) : tree.set(hashKey(key), hash)
    if (beforeHash !== undefined && key.startsWith(PACKAGE_KEY_PREFIX)) return undefined
    packages = packages.changed(key, before ?? null)
  }
  if (lastSigned === undefined) return undefined
  return rootOf({
    publicKey: lastSigned.publicKey,
    installedDApps: packages.hash,
    storage: tree.root(),
    commitment: beforePreviousHash
  })
}
