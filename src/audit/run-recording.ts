import {
  bytesOver,
  canonicalize,
  hashJson,
  isIdentityId,
  isJsonObject,
  type Json,
  limits,
  parse,
  type RunId,
  sha256Hex
} from '../core/index.js'
import {
  type HookVerdict,
  parseReceipt,
  type Receipt,
  type Store,
  type VerifiedItem,
  type VerifiedReceipt,
  type VerifyOptions,
  verifyLedger
} from '../ledger/index.js'

/** A value of the state: without `value` the key is absent. */
export interface RecordedValue {
  readonly key: string
  readonly value?: Json
  /** Its hash, where the ledger has the value no more; null where that is unknown too. */
  readonly withheld?: string | null
}

/** A receipt of the run, with the bodies that it names; one that is missing is withheld. */
export interface RecordedReceipt {
  /** Place in the chain, from 0. */
  readonly index: number
  readonly record: Receipt
  readonly payload?: Json
  readonly raw?: string
  readonly result?: Json
  readonly changes: readonly RecordedValue[]
  /** The block has declared its input or result private. */
  readonly isPrivate?: true
}

/** One entry of the journal, and what its commit has beside it. */
export interface RecordedEntry {
  readonly entry: Json
  readonly receipt?: RecordedReceipt
  readonly evidence?: Json
  /** What other work has changed since the entry before. */
  readonly elsewhere?: readonly RecordedValue[]
}

/**
 * One run as a ledger has it, with all that doing it again needs beside its code. Plain JSON.
 */
export interface RunRecording {
  readonly schema: typeof RUN_RECORDING_SCHEMA
  readonly identity: Receipt['identity']
  readonly run: RunId
  /** State before its first entry. */
  readonly state: readonly RecordedValue[]
  /** Prefixes below which `state` has all keys; `['']` where it has the whole state. */
  readonly lists: readonly string[]
  readonly entries: readonly RecordedEntry[]
  /** What of the run could not be read, in words. */
  readonly missing: readonly string[]
  /** What nothing has authenticated, in words. */
  readonly notChecked: readonly string[]
}

export const RUN_RECORDING_SCHEMA = 'tally-run-recording/1'

// Ends a pass over a ledger that has seen enough.
const ENOUGH = { field: 'enough', signed: '', computed: '' } as const

export interface RecordOptions {
  readonly store: Store
  readonly identity: Receipt['identity']
  readonly run: RunId
  readonly key?: VerifyOptions['key']
  /** Opens what is under keys of subjects. */
  readonly subjects?: VerifyOptions['subjects']
}

export async function recordRun(options: RecordOptions): Promise<RunRecording | undefined> {
  const { run, ...rest } = options
  const recorder = new Recorder(run)
  const { failure } = await verifyLedger({
    ...rest,
    onItem: (item) => recorder.item(item),
    onReceipt: (receipt) => recorder.receipt(receipt)
  })
  const missing =
    failure === undefined || failure.field === ENOUGH.field || recorder.isEnded
      ? []
      : [`the ledger does not verify from receipt ${failure.index} on: ${failure.field}`]
  const isKeyed = rest.key !== undefined
  return recorder.recorded(rest.identity, { missing, isKeyed })
}

/** Collects the run while the records of its ledger are read. */
class Recorder {
  isEnded = false
  readonly #run: RunId
  readonly #entries: RecordedEntry[] = []
  #state: readonly RecordedValue[] = []
  #elsewhere: RecordedValue[] = []

  constructor(run: RunId) {
    this.#run = run
  }

  item(item: VerifiedItem): HookVerdict | undefined {
    if (this.isEnded) return ENOUGH
    if (item.runId !== this.#run) return undefined
    if (this.#entries.length === 0) this.#state = everything(item)
    for (const [place, entry] of item.values.entries()) {
      const isLast = place === item.values.length - 1
      const elsewhere = this.#elsewhere.splice(0)
      const evidence = isLast && item.evidence !== undefined ? parse(item.evidence) : undefined
      this.#entries.push({
        entry,
        ...(evidence === undefined ? {} : { evidence }),
        ...(elsewhere.length === 0 ? {} : { elsewhere })
      })
      const isEnd = isJsonObject(entry) && entry['k'] === 'run.finished'
      this.isEnded = isEnd && !item.hasReceipt
    }
    return undefined
  }

  receipt(receipt: VerifiedReceipt): HookVerdict | undefined {
    const last = this.#entries.at(-1)
    if (last === undefined) return undefined
    if (receipt.runId !== this.#run) {
      this.#elsewhere.push(...changesOf(receipt))
      return undefined
    }
    this.#entries[this.#entries.length - 1] = { ...last, receipt: recordedReceipt(receipt) }
    this.isEnded = isJsonObject(last.entry) && last.entry['k'] === 'run.finished'
    return undefined
  }

  recorded(
    identity: Receipt['identity'],
    { missing, isKeyed }: { readonly missing: readonly string[]; readonly isKeyed: boolean }
  ): RunRecording | undefined {
    if (this.#entries.length === 0) return undefined
    return {
      schema: RUN_RECORDING_SCHEMA,
      identity,
      run: this.#run,
      state: this.#state,
      lists: [''],
      entries: this.#entries,
      missing,
      notChecked: this.isEnded || isKeyed ? [] : [unauthenticated]
    }
  }
}

const unauthenticated = 'the journal of the run: what authenticates it needs the blob key'

function everything({ stateBefore }: VerifiedItem): readonly RecordedValue[] {
  return stateBefore.list('').map((key) => {
    const text = stateBefore.read(key)
    return text === undefined ? { key, withheld: null } : { key, value: parse(text) }
  })
}

function recordedReceipt(verified: VerifiedReceipt): RecordedReceipt {
  const { index, receipt, payloadText, raw, resultText } = verified
  const { payload } = receipt.inputPayload
  const isPrivate =
    (payloadText !== undefined && isSalted(payload, payloadText)) ||
    (resultText !== undefined && isSaltedResult(receipt, resultText))
  return {
    index,
    record: receipt,
    ...(payloadText === undefined ? {} : { payload: parse(payloadText) }),
    ...(raw === undefined ? {} : { raw }),
    ...(resultText === undefined ? {} : { result: parse(resultText) }),
    changes: changesOf(verified),
    ...(isPrivate ? { isPrivate } : {})
  }
}

/** A private body is named by the hash of a blob that has a salt too (formats.md §3). */
function isSalted(reference: Json, text: string): boolean {
  if (!isJsonObject(reference) || typeof reference['$blob'] !== 'string') return false
  return reference['$blob'] !== hashJson(parse(text))
}

/** A result stands beside its receipt, which has the hash of what is stored of it alone. */
function isSaltedResult({ resultHash }: Receipt, text: string): boolean {
  const hash = sha256Hex(text)
  if (resultHash === hash) return false
  const bytes = Buffer.byteLength(text)
  return resultHash !== sha256Hex(canonicalize({ $blob: hash, bytes }))
}

function changesOf({ changes, writeSetText }: VerifiedReceipt): readonly RecordedValue[] {
  return changes.map(({ key, text }) => {
    if (text === null) return { key }
    if (text !== undefined) return { key, value: parse(text) }
    const written = JSON.parse(writeSetText) as readonly { key: string; after?: Json }[]
    const after = written.find((one) => one.key === key)?.after
    const hash = isJsonObject(after) ? after['$blob'] : undefined
    return { key, withheld: typeof hash === 'string' ? hash : null }
  })
}

export type ParsedRecording =
  | { readonly ok: true; readonly recording: RunRecording }
  | { readonly ok: false; readonly problem: string }

/** Reads a recording strictly; what its entries say is for a replay to find. */
export function parseRecording(text: string): ParsedRecording {
  const bytes = bytesOver(text, limits.RECORDING_BYTES_MAX)
  if (bytes !== undefined) return { ok: false, problem: `it has ${bytes} bytes` }
  let value: Json
  try {
    value = parse(text)
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) }
  }
  const problem = problemIn(value)
  if (problem !== undefined) return { ok: false, problem }
  return { ok: true, recording: value as unknown as RunRecording }
}

/** A recording as text, with a line for each value of the state and for each entry. */
export function encodeRecording({ state, entries, ...rest }: RunRecording): string {
  const members = Object.entries(rest).sort(([one], [other]) => (one < other ? -1 : 1))
  const list = (all: readonly unknown[]) =>
    all.length === 0 ? '[]' : `[\n  ${all.map((one) => canonicalize(one)).join(',\n  ')}\n ]`
  const lines = [
    ...members.map(([name, value]) => ` ${canonicalize(name)}: ${canonicalize(value)}`),
    ` "state": ${list(state)}`,
    ` "entries": ${list(entries)}`
  ]
  return `{\n${lines.join(',\n')}\n}\n`
}

const members = ['schema', 'identity', 'run', 'state', 'lists', 'entries', 'missing', 'notChecked']

function problemIn(value: Json): string | undefined {
  if (!isJsonObject(value)) return 'it is no object'
  const { schema, identity, run, state, lists, entries, missing, notChecked } = value
  if (schema !== RUN_RECORDING_SCHEMA) return `its schema is not ${RUN_RECORDING_SCHEMA}`
  const unknown = Object.keys(value).find((key) => !members.includes(key))
  if (unknown !== undefined) return `${unknown} is not known`
  if (!isIdentityId(identity) || typeof run !== 'string') return 'it names no run'
  const texts = [lists, missing, notChecked]
  if (!texts.every((list) => isListOf(list, (one) => typeof one === 'string'))) {
    return 'lists, missing and notChecked are lists of texts'
  }
  if (!isListOf(state, isValue)) return 'its state is no list of values'
  if (!Array.isArray(entries) || entries.length === 0) return 'it has no entries'
  const bad = entries.findIndex((one, n) => !isEntry(one, { n, run }))
  return bad === -1 ? undefined : `entry ${bad} is none of the run`
}

function isListOf(list: Json | undefined, isOne: (one: Json) => boolean): boolean {
  return Array.isArray(list) && list.every(isOne)
}

function isValue(one: Json): boolean {
  if (!isJsonObject(one) || typeof one['key'] !== 'string') return false
  const { withheld = null } = one
  return withheld === null || typeof withheld === 'string'
}

function isEntry(one: Json, { n, run }: { readonly n: number; readonly run: string }): boolean {
  if (!isJsonObject(one)) return false
  const { entry, receipt, elsewhere = [] } = one
  if (!isJsonObject(entry) || entry['n'] !== n || entry['run'] !== run) return false
  if (!isListOf(elsewhere, isValue)) return false
  return receipt === undefined || isReceipt(receipt)
}

function isReceipt(receipt: Json): boolean {
  if (!isJsonObject(receipt) || !Number.isSafeInteger(receipt['index'])) return false
  const { record, changes, raw = '' } = receipt
  if (typeof raw !== 'string') return false
  if (!isJsonObject(record) || !isListOf(changes, isValue)) return false
  const parsed = parseReceipt(canonicalize(record))
  return parsed.ok && parsed.computedHash === parsed.record.receiptHash
}
