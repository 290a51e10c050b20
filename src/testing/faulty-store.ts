/**
 * A disk that fails the way disks and LevelDB do, decided by a seed.
 *
 * Owns a log of commit records and what each of them is worth after a crash. Does not own the
 * process: a simulator opens it, crashes it, damages it and opens it again, several lives per seed.
 *
 * - F1 What a commit acknowledged survives every crash, unless `syncs` is false (a planted bug).
 * - F2 A commit under way at a crash is there wholly or not at all.
 * - F3 After `disk_full` the log holds a torn record: LevelDB continues, acknowledges and serves
 *   later commits, and loses every one of them when it is opened again.
 * - F4 After `sync_failed` every later commit of that life fails, and the failed one may be there.
 * - F5 The same seed and the same calls give the same faults.
 */
import { assert, ledgerError, type TallyError } from '../core/index.js'
import type { KeyRange, Store, StoreItem } from '../ledger/index.js'
import { Chance } from './chance.js'
import {
  applyChanges,
  type Change,
  decide,
  entriesOf,
  type StoredValues,
  sortedKeys
} from './store-parts.js'

/** Which faults a disk has, and how often. */
export interface FaultyDiskOptions {
  /** False: commits are acknowledged from the page cache. Default true. */
  readonly syncs?: boolean
  /** Most microtask turns that one step of a commit takes. Default 0. */
  readonly slowTurnsMax?: number
}

/**
 * `disk_full`: the append fails half-way. `sync_failed`: the append succeeds, the fsync does not.
 */
export type WriteFault = 'disk_full' | 'sync_failed'

interface LogRecord {
  readonly changes: Change[]
  state: 'cached' | 'synced' | 'torn'
}

/** A disk in memory that loses, tears and refuses what is written, by a seed. */
export class FaultyDisk {
  readonly #chance: Chance
  readonly #syncs: boolean
  readonly #slowTurnsMax: number
  #log: LogRecord[] = []
  #life: FaultyStore | undefined
  #armed: { after: number; times: number; fault: WriteFault } | undefined
  #syncBroken = false
  /** Faults that happened so far, by kind: tells whether a generator reaches anything. */
  readonly injected = new Map<string, number>()

  constructor(seed: number, { syncs = true, slowTurnsMax = 0 }: FaultyDiskOptions = {}) {
    this.#chance = new Chance(`faulty-disk/${seed}`)
    this.#syncs = syncs
    this.#slowTurnsMax = slowTurnsMax
  }

  /**
   * Recovers the log as LevelDB does and begins a life. Throws `ledger.locked` while one is open.
   */
  open(): Store {
    if (this.#life?.alive) {
      throw ledgerError('ledger.locked', { path: 'faulty disk', problem: 'it is open' })
    }
    this.#recover()
    this.#syncBroken = false
    this.#armed = undefined
    this.#life = new FaultyStore(this.#hold(), this.#replay())
    return this.#life
  }

  /**
   * Ends the life at once. `process`: what was written stays. `power`: of what was not synced a
   * random part stays, the next record torn. Commits under way reject with `store.write_failed`.
   */
  crash(kind: 'process' | 'power' = 'power'): void {
    this.#life?.die()
    this.#life = undefined
    this.#armed = undefined
    this.#count(`crash.${kind}`)
    if (kind === 'process') return
    const synced = this.#log.findLastIndex((record) => record.state === 'synced') + 1
    const kept = synced + this.#below(this.#log.length - synced + 1)
    const torn = this.#log[kept]
    if (torn !== undefined && this.#below(2) === 0) torn.state = 'torn'
    this.#log.length = Math.min(this.#log.length, kept + (torn?.state === 'torn' ? 1 : 0))
  }

  /** Lets `times` commits fail, after the next `after` have succeeded; for this life only. */
  failCommits({ after, times, fault }: { after: number; times: number; fault: WriteFault }): void {
    this.#armed = { after, times, fault }
  }

  /** Bit rot: flips one bit of one stored value. Returns its key; undefined when nothing fits. */
  flipBit(choose: (key: string) => boolean = () => true): string | undefined {
    return this.#damage('bit_flip', choose, (value) => {
      const copy = Buffer.from(value)
      const at = this.#below(copy.length)
      copy.writeUInt8(copy.readUInt8(at) ^ (1 << this.#below(8)), at)
      return copy
    })
  }

  /** Cuts one stored value short. Returns its key; undefined when nothing fits. */
  truncateValue(choose: (key: string) => boolean = () => true): string | undefined {
    return this.#damage('truncated', choose, (value) =>
      Buffer.from(value.subarray(0, this.#below(value.byteLength)))
    )
  }

  /** Gives one key the bytes of another. Returns the key; undefined when nothing fits. */
  misplaceValue(choose: (key: string) => boolean = () => true): string | undefined {
    const values = this.#replay()
    const keys = sortedKeys(values)
    const other = values.get(keys[this.#below(keys.length)] ?? '')
    return this.#damage('misplaced', choose, (value) => Buffer.from(other ?? value))
  }

  /** Drops the newest value of a key: an older one, or none, is found in its place. */
  loseValue(choose: (key: string) => boolean = () => true): string | undefined {
    return this.#damage('lost_value', choose, () => undefined)
  }

  /** Drops one commit that others follow, as a bit flip in LevelDB's log does. */
  loseRecord(): boolean {
    this.#atRest()
    if (this.#log.length < 2) return false
    this.#log.splice(this.#below(this.#log.length - 1), 1)
    this.#count('lost_record')
    return true
  }

  #damage(
    kind: string,
    choose: (key: string) => boolean,
    change: (value: Uint8Array) => Uint8Array | undefined
  ): string | undefined {
    this.#atRest()
    const values = this.#replay()
    const keys = sortedKeys(values).filter(
      (name) => (values.get(name)?.byteLength ?? 0) > 0 && choose(name)
    )
    const key = keys[this.#below(keys.length)]
    if (key === undefined) return undefined
    const record = this.#log.findLast(({ changes }) => changes.some(([name]) => name === key))
    const at = record?.changes.findLastIndex(([name]) => name === key) ?? -1
    const found = record?.changes[at]?.[1]
    if (record === undefined || found === undefined) return undefined
    const changed = change(found)
    if (changed === undefined) record.changes.splice(at, 1)
    else if (Buffer.compare(changed, found) === 0) return undefined
    else record.changes[at] = [key, changed]
    this.#count(kind)
    return key
  }

  #atRest(): void {
    assert(!this.#life?.alive, 'a faulty disk is damaged while it is closed')
    this.#recover()
  }

  /** A torn record ends the log: whatever follows it is gone. */
  #recover(): void {
    const torn = this.#log.findIndex((record) => record.state === 'torn')
    if (torn >= 0) this.#log.length = torn
  }

  #replay(): StoredValues {
    const values: StoredValues = new Map()
    for (const { changes } of this.#log) applyChanges(values, changes)
    return values
  }

  #hold(): DiskHold {
    return {
      append: (record) => this.#append(record),
      sync: () => this.#sync(),
      slow: async () => {
        for (let turn = this.#below(this.#slowTurnsMax + 1); turn > 0; turn -= 1) await undefined
      }
    }
  }

  #append(record: LogRecord): void {
    const armed = this.#armed
    if (armed !== undefined && armed.after > 0) armed.after -= 1
    else if (armed !== undefined && armed.times > 0) {
      armed.times -= 1
      this.#count(armed.fault)
      if (armed.fault === 'disk_full') {
        this.#log.push({ changes: [], state: 'torn' })
        throw failed('the disk is full')
      }
      this.#syncBroken = true
    }
    this.#log.push(record)
  }

  #sync(): void {
    if (this.#syncBroken) throw failed('fsync failed')
    if (!this.#syncs) return
    for (const record of this.#log) if (record.state === 'cached') record.state = 'synced'
  }

  #below(limit: number): number {
    return this.#chance.below(limit)
  }

  #count(kind: string): void {
    this.injected.set(kind, (this.injected.get(kind) ?? 0) + 1)
  }
}

/** What a life may do to its disk. */
interface DiskHold {
  append(record: LogRecord): void
  sync(): void
  slow(): Promise<void>
}

class FaultyStore implements Store {
  readonly #disk: DiskHold
  readonly #values: StoredValues
  #turn: Promise<unknown> = Promise.resolve()
  #open = true
  #dead = false

  constructor(disk: DiskHold, values: StoredValues) {
    this.#disk = disk
    this.#values = values
  }

  get alive(): boolean {
    return this.#open
  }

  die(): void {
    this.#open = false
    this.#dead = true
  }

  get(key: string): Uint8Array | undefined {
    this.#check()
    const value = this.#values.get(key)
    return value === undefined ? undefined : Buffer.from(value)
  }

  entries(range: KeyRange): AsyncIterable<readonly [key: string, value: Uint8Array]> {
    this.#check()
    return entriesOf(this.#values, range)
  }

  async commit(items: readonly StoreItem[]): Promise<readonly boolean[]> {
    this.#check()
    const result = this.#turn.then(() => this.#write(items))
    this.#turn = result.catch(() => undefined)
    return result
  }

  async compact(): Promise<void> {
    this.#check()
  }

  async close(): Promise<void> {
    const turn = this.#turn
    this.#open = false
    await turn
  }

  async #write(items: readonly StoreItem[]): Promise<readonly boolean[]> {
    const { applies, changes } = decide(this.#values, items)
    const record: LogRecord = { changes, state: 'cached' }
    await this.#disk.slow()
    this.#checkAlive()
    this.#disk.append(record)
    await this.#disk.slow()
    this.#checkAlive()
    this.#disk.sync()
    applyChanges(this.#values, changes)
    await this.#disk.slow()
    this.#checkAlive()
    return applies
  }

  /** Stands right before each touch of the disk: a crash may come during any await. */
  #checkAlive(): void {
    if (this.#dead) throw failed('the process died')
  }

  #check(): void {
    if (!this.#open) throw ledgerError('store.closed', { path: 'faulty disk' })
  }
}

function failed(problem: string): TallyError {
  return ledgerError('store.write_failed', { path: 'faulty disk', problem })
}
