import {
  canonicalString,
  type Hash,
  type IdentityId,
  type PublicKey,
  sha256Hex
} from '../../core/index.js'
import { advance, type ChainHead } from '../chain/chain-head.js'
import { isRotation, rotatedKey } from '../chain/keys-in-force.js'
import { parseWriteSet, type StoredChange } from '../chain/stored-write-set.js'
import { type FieldProblem, parseReceipt, type TextOf } from '../receipt/parse.js'
import type { Evidence, Receipt } from '../receipt/receipt.js'
import type { StoredReceiptText } from '../record/record.js'
import { IdTable } from './id-table.js'
import type { StateFold } from './state-fold.js'

export type CheckedReceipt =
  | {
      readonly ok: true
      readonly receipt: Receipt
      readonly changes: readonly StoredChange[]
      readonly chainHead: ChainHead
      /** Its leaf in the log. */
      readonly leaf: Uint8Array
      readonly textOf: TextOf
    }
  | { readonly ok: false; readonly problem: FieldProblem & { readonly key?: string } }

/** What earlier receipts established. */
export class ChainMemory {
  readonly #unitIds = new IdTable()
  readonly #receiptHashes = new IdTable()
  /** The last hash that was found; most receipts have the seed of the one before them. */
  #found: Hash | undefined
  /** Place of the first receipt that it has. */
  #first = 0
  /** Seeds that rest on none that it has: on archived ones, if all is well. */
  seedsNotChecked = 0

  /** It begins behind archived history, of which it has the last receipt only. */
  beginBehind(receipts: number, last: Hash | null): void {
    this.#first = last === null ? receipts : receipts - 1
    if (last !== null) this.remember(last)
  }

  /** Whether this is the hash of an earlier receipt, as far as those are here. */
  isReceipt(hash: Hash): boolean {
    if (hash !== this.#found) {
      if (this.#receiptHashes.has(hash)) this.#found = hash
      else if (this.#first === 0) return false
      else this.seedsNotChecked += 1
    }
    return true
  }

  /** Place of a receipt in the chain, from 0. */
  placeOf(hash: Hash): number | undefined {
    const found = this.#receiptHashes.find(hash)
    return found === undefined ? undefined : found + this.#first
  }

  /** Whether no earlier receipt has this unit id; it is remembered. */
  isNewUnit(id: string): boolean {
    const { size } = this.#unitIds
    return this.#unitIds.add(id) === size
  }

  remember(hash: Hash): void {
    this.#receiptHashes.add(hash)
  }
}

/**
 * Checks one receipt against everything before it, except its signature (P1): form, pinned key,
 * link, hash, input, seed, roots, write set, result, capabilities, unit id.
 */
export function checkReceipt(options: {
  readonly stored: StoredReceiptText
  readonly identity: IdentityId
  readonly fold: StateFold
  readonly memory: ChainMemory
}): CheckedReceipt {
  const { stored, identity, fold, memory } = options
  const parsed = parseReceipt(stored.text)
  if (!parsed.ok) return parsed
  const receipt = parsed.record
  const { chainHead } = fold
  const problem =
    different('identity', receipt.identity, identity) ??
    different('publicKey', receipt.publicKey, chainHead.publicKey) ??
    different('previousReceiptHash', receipt.previousReceiptHash, chainHead.receiptHash) ??
    different('receiptHash', receipt.receiptHash, parsed.computedHash) ??
    different('inputHash', receipt.inputHash, parsed.inputHash) ??
    different('resultHash', receipt.resultHash, sha256Hex(stored.result)) ??
    different('previousStateRoot', receipt.previousStateRoot, chainHead.executionRoot) ??
    inputProblem(receipt, memory)
  if (problem !== undefined) return { ok: false, problem }
  const changes = parseWriteSet(stored.writeSet)
  if (changes === undefined) {
    return failed('writeSet', stored.writeSet.slice(0, 200), 'a canonical write set')
  }
  const wrong = fold.wrongBefore(changes)
  if (wrong !== undefined) {
    const before = fold.read(wrong.key) ?? 'absent'
    return {
      ok: false,
      problem: { ...fieldOf('writeSet.before', 'another value', before), key: wrong.key }
    }
  }
  const newKey = keyAfter(receipt, identity, chainHead.publicKey)
  if (newKey === undefined) return failed('inputPayload.payload.proof', 'invalid', 'a valid proof')
  const next = fold.next(changes, newKey)
  const rootProblem = different('nextStateRoot', receipt.nextStateRoot, next.nextStateRoot)
  if (rootProblem !== undefined) return { ok: false, problem: rootProblem }
  const { leaf, textOf } = parsed
  return {
    ok: true,
    receipt,
    changes,
    chainHead: advance(chainHead, next, receipt.receiptHash),
    leaf,
    textOf
  }
}

function inputProblem(receipt: Receipt, memory: ChainMemory): FieldProblem | undefined {
  const { inputPayload: input } = receipt
  const { base, value } = input.seed
  const undeclared = receipt.capabilitiesUsed.find(
    (capability) => !receipt.capabilitiesDeclared.includes(capability)
  )
  if (base !== 'GENESIS' && !memory.isReceipt(base)) {
    return fieldOf('inputPayload.seed.base', base, 'the hash of an earlier receipt')
  }
  if (!memory.isNewUnit(input.id)) {
    return fieldOf('inputPayload.id', canonicalString(input.id), 'an id of its own')
  }
  if (undeclared !== undefined) {
    return fieldOf('capabilitiesUsed', undeclared, 'only declared capabilities')
  }
  return (
    different('inputPayload.action', input.action, receipt.intent) ??
    different('timestamp', receipt.timestamp, input.timestamp) ??
    different('inputPayload.seed.value', value, sha256Hex(`tallystick/prng${base}${input.id}`))
  )
}

function keyAfter(
  receipt: Receipt,
  identity: IdentityId,
  current: PublicKey
): PublicKey | undefined {
  return isRotation(receipt) ? rotatedKey(identity, receipt) : current
}

function failed(field: string, signed: string, computed: string): CheckedReceipt {
  return { ok: false, problem: fieldOf(field, signed, computed) }
}

function fieldOf(field: string, signed: string, computed: string): FieldProblem {
  return { field, signed, computed }
}

/** A problem when two values that must agree do not. */
export function different(
  field: string,
  signed: Hash | string | number | null,
  computed: Hash | string | number | null
): FieldProblem | undefined {
  return signed === computed ? undefined : fieldOf(field, String(signed), String(computed))
}

/** What of a record of evidence does not fit the place at which it stands. */
export function evidenceProblem(
  evidence: Evidence,
  computedHash: Hash,
  { identity, chainHead }: { readonly identity: IdentityId; readonly chainHead: ChainHead }
): FieldProblem | undefined {
  return (
    different('evidence.identity', evidence.identity, identity) ??
    different('evidence.publicKey', evidence.publicKey, chainHead.publicKey) ??
    different('evidence.evidenceHash', evidence.evidenceHash, computedHash) ??
    different('evidence.head.seq', evidence.head.seq, chainHead.receipts) ??
    different('evidence.head.receiptHash', evidence.head.receiptHash, chainHead.receiptHash)
  )
}
