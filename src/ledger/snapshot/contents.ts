import { coreError, type IdentityId, limits, type PublicKey } from '../../core/index.js'
import { unwrapText, unwrapValue } from '../envelope.js'
import { StoreKeys } from '../keys.js'
import { ChainScan } from '../open/scan.js'
import { type Head, parseHead } from '../record/head.js'
import { corrupt, parseRecord } from '../record/record.js'
import type { KeyRange, Store } from '../stores/port.js'
import { encodeLine, type SnapshotCounts, type SnapshotHeader } from './format.js'
import { OpenRuns } from './open-runs.js'

type Entries = AsyncIterable<readonly [key: string, value: Uint8Array]>

/** Source records of one identity as they stood at one commit. */
interface Look {
  readonly commits: Entries
  readonly stateEntries: Entries
  readonly blobs: Entries
}

/**
 * What a snapshot of a store holds. The records are read twice, since a snapshot begins with its
 * counts; both passes see the same commit, whatever is written meanwhile. Every link of the chain
 * is checked on the way: a ledger whose chain is damaged throws `ledger.corrupt`.
 */
export class SnapshotContents {
  readonly head: Head
  readonly #keys: StoreKeys
  readonly #identity: IdentityId
  readonly #looks: Look[]

  private constructor(options: {
    readonly keys: StoreKeys
    readonly identity: IdentityId
    readonly head: Head
    readonly looks: Look[]
  }) {
    this.head = options.head
    this.#keys = options.keys
    this.#identity = options.identity
    this.#looks = options.looks
  }

  /** Throws `ledger.corrupt`. */
  static async take(store: Store, identity: IdentityId): Promise<SnapshotContents> {
    const keys = new StoreKeys(identity)
    for (;;) {
      const before = store.get(keys.head)
      // One that begins has its head before anything else.
      if (before === undefined) throw corrupt(keys.head, 'it is missing')
      const looks = [lookAt(store, keys), lookAt(store, keys)]
      const after = store.get(keys.head)
      // Every commit writes the head (L1), so none came between.
      if (after !== undefined && Buffer.compare(before, after) === 0) {
        const head = parseHead(keys.head, unwrapText(keys.head, before))
        return new SnapshotContents({ keys, identity, head, looks })
      }
      for (const look of looks) await letGo(look)
    }
  }

  /** First pass. */
  async header(): Promise<SnapshotHeader> {
    const scan = new ChainScan(this.#identity)
    const publicKeys: PublicKey[] = [scan.chain.publicKey]
    const counts = { commits: 0, stateEntries: 0, blobs: 0, openRuns: 0 }
    let bytes = 0
    let longestLine = 0
    const lines = this.#lines((key, body) => {
      scan.next(key, body)
      const { publicKey } = scan.chain
      if (publicKey !== publicKeys.at(-1)) publicKeys.push(publicKey)
    })
    for await (const { kind, text } of lines) {
      const length = Buffer.byteLength(text)
      if (length > limits.SNAPSHOT_LINE_BYTES_MAX) {
        throw coreError('core.limit_exceeded', {
          what: 'line of a snapshot',
          limit: limits.SNAPSHOT_LINE_BYTES_MAX,
          actual: length
        })
      }
      counts[kind] += 1
      bytes += length + 1
      longestLine = Math.max(longestLine, length)
    }
    const { head } = this
    return { identity: this.#identity, publicKeys, counts, bytes, longestLine, head }
  }

  /** Second pass. */
  async *lines(): AsyncGenerator<string> {
    for await (const { text } of this.#lines()) yield text
  }

  /** Lets go of what was not read. */
  async close(): Promise<void> {
    for (const look of this.#looks.splice(0)) await letGo(look)
  }

  async *#lines(
    onCommit: (key: string, body: Buffer) => void = () => undefined
  ): AsyncGenerator<{ readonly kind: keyof SnapshotCounts; readonly text: string }> {
    const look = this.#looks.shift()
    if (look === undefined) return
    const open = new OpenRuns()
    for await (const [key, value] of look.commits) {
      const body = unwrapValue(key, value)
      onCommit(key, body)
      for (const item of parseRecord(key, body).items) open.add(item)
      yield { kind: 'commits', text: encodeLine({ kind: 'commits', text: body.toString() }) }
    }
    for await (const [key, value] of look.stateEntries) {
      const text = unwrapText(key, value)
      const line = { kind: 'stateEntries', key: this.#keys.stateKey(key), text } as const
      yield { kind: 'stateEntries', text: encodeLine(line) }
    }
    for await (const [key, value] of look.blobs) {
      yield { kind: 'blobs', text: encodeLine({ kind: 'blobs', text: unwrapText(key, value) }) }
    }
    for (const [runId, status] of open.list()) {
      yield { kind: 'openRuns', text: encodeLine({ kind: 'openRuns', runId, status }) }
    }
  }
}

function lookAt(store: Store, keys: StoreKeys): Look {
  const entries = (range: KeyRange) => store.entries(range)
  return {
    commits: entries(keys.allCommits()),
    stateEntries: entries(keys.states('')),
    blobs: entries(keys.blobs())
  }
}

/** Has a driver end iterations that were not begun. */
async function letGo({ commits, stateEntries, blobs }: Look): Promise<void> {
  for (const entries of [commits, stateEntries, blobs]) {
    for await (const _ of entries) break
  }
}
