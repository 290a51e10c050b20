import { generateKeyPairSync, hash, type KeyObject, randomBytes, sign } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { Level } from 'level'
import type { Json } from '../src/core/index.js'
import { hashKey, hashValue, StateTree } from '../src/ledger/state/index.js'
import { canonical } from './canonical.js'
import {
  type EffectRecords,
  type EffectResult,
  effectOf,
  type FloorEffect
} from './floor-effect.js'

/**
 * The floor: what cannot be avoided for one signed, hash-chained, durable receipt per step, and
 * nothing else. No actors, no engine, no queue with failure handling, no log, no index.
 * Each step: ids and seed, input and result hash, state root, receipt, signature, journal entry;
 * then one synced LevelDB batch of the commit record, the changed state entries and the head. Form
 * `atomic`: each step an id and a journal entry, and one receipt for all of them. With an effect, a
 * step also does its hashes, salt and entries; a write's request is durable before it is sent,
 * together with the receipt of the step before.
 */
export type FloorForm = 'group' | 'step' | 'workflow' | 'atomic'

type Step = ReceiptStep | { readonly journal: string; readonly text?: undefined }

interface ReceiptStep {
  readonly text: string
  readonly cut: readonly [number, number]
  readonly signature: Promise<string> | string
  readonly journal: string
  readonly change: readonly [key: string, text: string] | undefined
}

const STEPS = 10
const ACTION = 'bench.step'
const PACKAGES = hash('sha256', '[]')
const CODE = hash('sha256', 'code')
const PROVIDER = {
  codeHash: CODE,
  id: `${ACTION}@1.0.0`,
  kind: 'declared',
  profile: { js: 'node' }
}
const PRINCIPAL = { id: 'local', kind: 'owner' }

export interface FloorOptions {
  readonly form: FloorForm
  readonly stateKeys: number
  /** What each step asks for outside; default none. */
  readonly effect?: FloorEffect
}

export class Floor {
  readonly #form: FloorForm
  readonly #effect: FloorEffect
  readonly #blobKey = randomBytes(32)
  readonly #database: Level<string, Uint8Array>
  readonly #key: KeyObject
  readonly #identity: string
  #tree: StateTree | undefined
  #receiptHash: string | null = null
  #stateRoot = hash('sha256', '')
  #commits = 0
  #receipts = 0
  #queue: Step[] = []
  #flushed: Promise<void> | undefined

  private constructor(
    { form, effect = 'none', stateKeys }: FloorOptions,
    database: Level<string, Uint8Array>
  ) {
    this.#form = form
    this.#effect = effect
    this.#database = database
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    this.#key = privateKey
    this.#identity = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex')
    if (stateKeys === 0) return
    let tree = StateTree.empty
    for (let index = 0; index < stateKeys; index += 1) {
      tree = tree.set(hashKey(stateKey(index, stateKeys)), hashValue('{"n":0}'))
    }
    tree.root()
    this.#tree = tree
  }

  static async open(options: FloorOptions & { readonly path: string }): Promise<Floor> {
    const database = new Level<string, Uint8Array>(options.path, { valueEncoding: 'buffer' })
    await database.open()
    return new Floor(options, database)
  }

  /** A workflow of ten steps; resolves when it is durable. */
  async workflow(index: number): Promise<void> {
    const runId = `run-${index}`
    if (this.#form === 'atomic') return this.#commit([this.#atomic(runId, index)])
    const steps: Step[] = []
    for (let number = 1; number <= STEPS; number += 1) {
      const effect = this.#effectOf(runId, index, number)
      if (effect?.requested !== undefined) {
        await this.#durable([...steps.splice(0), { journal: effect.requested }])
      }
      const step = this.#step(runId, index, number, await effect?.perform())
      // The receipt of a write goes to disk with the next request.
      if (this.#form === 'workflow' || effect?.requested !== undefined) steps.push(step)
      else await this.#durable([step])
    }
    if (steps.length > 0) await this.#durable(steps)
  }

  #durable(steps: readonly Step[]): Promise<void> {
    if (this.#form !== 'group') return this.#commit(steps)
    this.#queue.push(...steps)
    return this.#group()
  }

  #effectOf(runId: string, index: number, number: number): EffectRecords | undefined {
    if (this.#effect === 'none') return undefined
    const path = `root/s${number - 1}`
    const id = hash('sha256', canonical([runId, path, number]))
    return effectOf(this.#effect, this.#blobKey, { id, runId, path, number, index })
  }

  async close(): Promise<void> {
    await this.#database.close()
  }

  /** Group commit: one flush at a time; what comes meanwhile goes together into the next. */
  async #group(): Promise<void> {
    const before = this.#flushed
    if (before === undefined) {
      // Let all that can step in this turn do so.
      const flushed = new Promise<void>((resolve) => setImmediate(resolve)).then(() =>
        this.#flush()
      )
      this.#flushed = flushed
      return flushed
    }
    return before
  }

  async #flush(): Promise<void> {
    this.#flushed = undefined
    await this.#turn
    const steps = this.#queue
    this.#queue = []
    const turn = this.#commit(steps)
    this.#turn = turn
    await turn
  }

  #turn: Promise<void> = Promise.resolve()

  /** Ten steps with one receipt. */
  #atomic(runId: string, index: number): ReceiptStep {
    const results: Record<string, Json> = {}
    let journal = `\nI"${runId}"`
    for (let number = 1; number <= STEPS; number += 1) {
      const path = `root/s${number - 1}`
      hash('sha256', canonical([runId, path, number]))
      const result = { n: index }
      results[path] = result
      journal += `\nJ${settled({ at: Date.now(), path, result, runId, number })}`
    }
    const { journal: own, ...step } = this.#receipt(
      { runId, index, path: 'root', number: 0 },
      results
    )
    return { ...step, journal: journal + own.slice(own.indexOf('\nJ')) }
  }

  #step(runId: string, index: number, number: number, effect?: EffectResult): ReceiptStep {
    const path = `root/s${number - 1}`
    return this.#receipt({ runId, index, path, number }, { n: index }, effect)
  }

  #receipt(
    unit: {
      readonly runId: string
      readonly index: number
      readonly path: string
      readonly number: number
    },
    result: Json,
    effect?: EffectResult
  ): ReceiptStep {
    const { runId, index, path, number } = unit
    const at = Date.now()
    const id = hash('sha256', canonical([runId, path, number]))
    const base = 'GENESIS'
    const seed = hash('sha256', `tallystick/prng${base}${id}`)
    const timestamp = Math.floor(at / 1000)
    const inputPayload = {
      action: ACTION,
      id,
      payload: { n: index, note: 'a trivial pure step' },
      principal: PRINCIPAL,
      provider: PROVIDER,
      run: { at, attempt: 1, path, runId, step: number },
      sealed: effect === undefined ? [] : [effect.reference],
      seed: { base, value: seed },
      timestamp
    }
    const resultText = canonical(result)
    const change = this.#change(index, number)
    const previousStateRoot = this.#stateRoot
    const storage = this.#tree?.root() ?? PACKAGES
    const nextStateRoot = hash('sha256', canonical(this.#rootParts(storage)))
    const receipt = canonical({
      capabilitiesDeclared: [],
      capabilitiesUsed: [],
      dappId: `block:${ACTION}@1.0.0`,
      identity: this.#identity,
      inputHash: hash('sha256', canonical(inputPayload.payload)),
      inputPayload,
      intent: ACTION,
      nextStateRoot,
      previousReceiptHash: this.#receiptHash,
      previousStateRoot,
      publicKey: this.#identity,
      resultHash: hash('sha256', resultText),
      timestamp,
      version: 1
    })
    const receiptHash = hash('sha256', receipt)
    this.#receiptHash = receiptHash
    this.#stateRoot = nextStateRoot
    const atHash = receipt.lastIndexOf('"resultHash"')
    const [before, after] = [receipt.slice(0, atHash), receipt.slice(atHash)]
    const text = `${before}"receiptHash":"${receiptHash}",${after}`
    const atSignature = text.lastIndexOf('"timestamp"')
    const journal = settled({ at, path, result, runId, number })
    const signature = this.#sign(receiptHash)
    return {
      text,
      cut: [atSignature, text.length],
      signature,
      journal: `\nI"${runId}"${effect?.journal ?? ''}\nJ${journal}`,
      change
    }
  }

  #change(index: number, number: number): ReceiptStep['change'] {
    if (this.#tree === undefined) return undefined
    const key = stateKey(index * STEPS + number, this.#tree.size)
    const text = canonical({ n: index })
    this.#tree = this.#tree.set(hashKey(key), hashValue(text))
    return [key, text]
  }

  #rootParts(storage: string): Json {
    return {
      capabilityVersion: 1,
      identityPublicKey: this.#identity,
      installedDApps: PACKAGES,
      receiptChainCommitment: this.#receiptHash,
      storage,
      version: 1
    }
  }

  /** In form `group` off the main thread, in the pool; otherwise a caller waits, so at once. */
  #sign(receiptHash: string): Promise<string> | string {
    const message = Buffer.from(receiptHash, 'hex')
    if (this.#form !== 'group') return sign(null, message, this.#key).toString('hex')
    return new Promise((resolve, reject) => {
      sign(null, message, this.#key, (error, bytes) => {
        if (error === null) resolve(bytes.toString('hex'))
        else reject(error)
      })
    })
  }

  async #commit(steps: readonly Step[]): Promise<void> {
    if (steps.length === 0) return
    let record = `C{"receipts":${this.#receipts},"seq":${this.#commits}}`
    const changes = new Map<string, string>()
    for (const step of steps) {
      if (step.text === undefined) {
        record += step.journal
        continue
      }
      const { text, cut, signature, journal, change } = step
      const signed = typeof signature === 'string' ? signature : await signature
      record += `${journal}\nR${text.slice(0, cut[0])}"signature":"${signed}",${text.slice(cut[0])}`
      if (change === undefined) record += '\nW[]'
      else {
        record += `\nW[{"after":${change[1]},"before":{"n":0},"key":"${change[0]}"}]`
        changes.set(change[0], change[1])
      }
    }
    const batch = this.#database.batch()
    const put = (key: string, text: string) => batch.put(key, wrapped(key, text))
    put(`${this.#identity}/commit/${String(this.#commits).padStart(12, '0')}`, record)
    put(`${this.#identity}/head`, canonical({ receiptHash: this.#receiptHash, seq: this.#commits }))
    for (const [key, text] of changes) put(`${this.#identity}/state/${key}`, text)
    this.#commits += 1
    this.#receipts += steps.filter(({ text }) => text !== undefined).length
    await batch.write({ sync: true } as object)
  }
}

/** The journal entry of a step. */
function settled(step: {
  readonly at: number
  readonly path: string
  readonly result: Json
  readonly runId: string
  readonly number: number
}): string {
  const { at, path, result, runId, number } = step
  return canonical({
    at,
    attempt: 1,
    k: 'settled',
    n: number,
    path,
    response: { data: result, metadata: {}, success: true },
    run: runId,
    sent: false,
    step: number
  })
}

/** Keys in an order that looks like chance, the same for floor and engine. */
export function stateKey(number: number, keys: number): string {
  return `bench/${(number * 7919) % keys}`
}

function wrapped(key: string, text: string): Buffer {
  const value = Buffer.allocUnsafe(5 + Buffer.byteLength(text))
  value[0] = 1
  value.write(text, 5)
  value.writeUInt32BE(crc32(value.subarray(5), crc32(key)), 1)
  return value
}
