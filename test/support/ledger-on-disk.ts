import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { limits, type ManualClock, nextTurn } from '../../src/core/index.js'
import { createRuntime, type RuntimeOptions, type WiredRuntime } from '../../src/runtime/index.js'

/** A ledger on disk that a test opens and closes as often as it likes. */
export class LedgerOnDisk {
  /** A directory of the test's own, which holds the ledger's. */
  readonly directory: string
  #opened: WiredRuntime[] = []

  private constructor(directory: string) {
    this.directory = directory
  }

  static async create(): Promise<LedgerOnDisk> {
    return new LedgerOnDisk(await mkdtemp(join(tmpdir(), 'tally-ledger-')))
  }

  get path(): string {
    return join(this.directory, 'ledger')
  }

  async open(options: Omit<RuntimeOptions, 'location' | 'create'> = {}): Promise<WiredRuntime> {
    const tally = await createRuntime({
      location: this.path,
      create: 'if-absent',
      insecurePlaintextKey: true,
      serve: false,
      // What a test resumes, it resumes by name.
      resume: false,
      ...options
    })
    this.#opened.push(tally)
    return tally
  }

  async close(): Promise<void> {
    const opened = this.#opened
    this.#opened = []
    for (const tally of opened) await tally.close()
  }

  /** Closes while what a run asked for hangs: the grace that it has passes on this clock. */
  async closeHanging(clock: ManualClock): Promise<void> {
    let isClosed = false
    const closed = this.close().finally(() => {
      isClosed = true
    })
    while (!isClosed) {
      clock.advance(limits.CLOSE_GRACE_MS)
      await nextTurn()
    }
    await closed
  }

  async remove(): Promise<void> {
    await this.close()
    await rm(this.directory, { recursive: true, force: true })
  }
}

/** Gives each test of a file a ledger on disk of its own, which is removed after it. */
export function ledgerForEachTest(give: (disk: LedgerOnDisk) => void): void {
  let disk: LedgerOnDisk | undefined
  beforeEach(async () => {
    disk = await LedgerOnDisk.create()
    give(disk)
  })
  afterEach(() => disk?.remove())
}
