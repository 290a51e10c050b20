import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { WiredRuntime } from '../../src/runtime/index.js'
import { archiveShare } from '../support/archived-share.js'
import '../support/seed.js'
import { cases } from '../support/effort.js'
import {
  documentOf,
  LARGE_LENGTH,
  openSnapshotLedger,
  temporaryDirectory
} from '../support/snapshots.js'

/** What happens to a ledger between its archives. */
type Act =
  | { readonly act: 'note' | 'large' | 'lose' | 'ask' | 'answer' | 'rotate' | 'reopen' }
  | { readonly act: 'archive'; readonly share: number }

const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom<Act>({ act: 'note' }, { act: 'lose' }, { act: 'ask' })
    },
    { weight: 1, arbitrary: fc.constant<Act>({ act: 'large' }) },
    { weight: 2, arbitrary: fc.constant<Act>({ act: 'answer' }) },
    { weight: 1, arbitrary: fc.constantFrom<Act>({ act: 'rotate' }, { act: 'reopen' }) },
    {
      weight: 3,
      arbitrary: fc
        .double({ min: 0, max: 1, noNaN: true })
        .map((share): Act => ({ act: 'archive', share }))
    }
  ),
  { minLength: 4, maxLength: 24 }
)

/** One ledger, its archives so far, and what was asked of it. */
class Archived {
  readonly archives: string[] = []
  readonly ids: string[] = []
  readonly open: string[] = []

  constructor(
    readonly path: (name: string) => string,
    public tally: WiredRuntime
  ) {}

  async do(act: Act): Promise<void> {
    const { tally } = this
    switch (act.act) {
      case 'note':
      case 'large': {
        const text = act.act === 'large' ? 'x'.repeat(LARGE_LENGTH) : `t${this.ids.length}`
        await tally.begin(documentOf('note'), { id: this.#id(), inputs: { text } }).result
        return
      }
      case 'lose':
        await tally.begin(documentOf('lose'), { id: this.#id() }).result
        return
      case 'ask': {
        const id = this.#id()
        this.open.push(id)
        const run = tally.begin(documentOf('ask'), { id })
        for await (const event of run) if (event.type === 'run.parked') break
        return
      }
      case 'answer': {
        const id = this.open.shift()
        if (id === undefined) return
        const run = await tally.attach(id)
        const [wait] = await run.waits()
        await run.resume(wait?.token ?? '', { digest: wait?.digest as never, value: 1 })
        expect(await run.result).toMatchObject({ status: 'done' })
        return
      }
      case 'rotate':
        await tally.intent({ action: 'system.key.rotate' })
        return
      case 'reopen':
        await tally.close()
        this.tally = await openSnapshotLedger(this.path('ledger'))
        expect(this.tally.status().mode).toBe('ready')
        return
      case 'archive':
        return this.#archive(act.share)
    }
  }

  async #archive(share: number): Promise<void> {
    const path = this.path(`${this.archives.length}.archive`)
    if (await archiveShare(this.tally, { path, share })) this.archives.push(path)
  }

  async judge(): Promise<void> {
    const { tally, archives } = this
    expect((await tally.verify()).failure).toBeUndefined()
    if (archives.length > 0) {
      const whole = await tally.verify({ archives })
      expect(whole.failure).toBeUndefined()
      expect(whole.complete).toBe(true)
    }
    for (const id of this.ids) {
      const other = tally.start(documentOf('note'), { id, inputs: { text: 'other' } })
      await expect(other).rejects.toMatchObject({ code: 'run.id_reused' })
    }
    const waiting = (await tally.waits({})).items.map(({ runId }) => runId)
    expect([...waiting].sort()).toEqual([...this.open].sort())
  }

  #id(): string {
    const id = `run-${this.ids.length}`
    this.ids.push(id)
    return id
  }
}

it('G1, G2, L6: whatever is archived, the ledger verifies, runs end, and ids are refused', async () => {
  await fc.assert(
    fc.asyncProperty(acts, async (given) => {
      const place = await temporaryDirectory('archives')
      const path = (name: string) => place.path(name)
      const tally = await openSnapshotLedger(path('ledger'), { create: 'if-absent' })
      const ledger = new Archived(path, tally)
      try {
        for (const act of given) await ledger.do(act)
        await ledger.judge()
        await ledger.do({ act: 'reopen' })
        await ledger.judge()
      } finally {
        await ledger.tally.close()
        await place.remove()
      }
    }),
    { numRuns: cases({ usual: 12, long: 17, soak: 300 }) }
  )
})
