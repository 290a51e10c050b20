import { describe, expect, it } from 'vitest'
import type { JournalEntry } from '../../../../src/block/index.js'
import {
  chainJournal,
  type Hash,
  type Json,
  limits,
  type RunId
} from '../../../../src/core/index.js'
import type { RunRecord } from '../../../../src/ledger/index.js'
import { KeptPictures } from '../../../../src/runtime/queries/kept-pictures.js'
import { RunMoments } from '../../../../src/runtime/run/run-moments.js'

const RUN = 'long' as RunId
const { PICTURE_ENTRIES_BETWEEN: between, KEPT_PICTURES_MAX: most } = limits

/** Pictures of a run that is sent signals alone, and how often its journal is read. */
function kept(stretches: number) {
  const texts = new Map<number, string>()
  const pictures = {
    savePicture: ({ stretch }: { readonly stretch: number }, text: string | null) => {
      if (text !== null) texts.set(stretch, text)
    },
    picture: ({ stretch }: { readonly stretch: number }) => texts.get(stretch)
  }
  const moments = new RunMoments(RUN, pictures)
  const journal: string[] = []
  let hash = '' as Hash
  for (let n = 0; n <= stretches * between; n += 1) {
    const entry = { k: 'signal', run: RUN, n, at: n }
    const text = JSON.stringify(entry)
    hash = chainJournal(hash, text)
    journal.push(text)
    moments.took(entry as unknown as JournalEntry, hash, n)
  }
  const reads: number[] = []
  const journalParts = async function* (_: RunId, from = 0) {
    reads.push(from)
    yield journal
      .slice(from, from + between)
      .map((text, place) => ({ n: from + place, text, value: JSON.parse(text) as Json }))
  }
  const shown = new KeptPictures({ ledger: { pictures, journalParts } as never })
  return { reads, at: (entry: number) => shown.at({ runId: RUN } as RunRecord, entry) }
}

describe('pictures that were read', () => {
  it('stay in memory as far as they are bounded, the last ones read', async () => {
    const { reads, at } = kept(most + 2)
    for (let stretch = 1; stretch <= most; stretch += 1) {
      const entry = stretch * between + 7
      expect(await at(entry)).toMatchObject({ entry, at: entry, status: 'running' })
    }
    expect(reads).toHaveLength(most)
    await at(between)
    expect(reads).toHaveLength(most)
    // The second is the one that was not looked at for longest.
    await at((most + 1) * between)
    await at(between)
    await at(3 * between)
    expect(reads).toHaveLength(most + 1)
    await at(2 * between)
    expect(reads).toHaveLength(most + 2)
  })

  it('are none of the first stretch, nor beyond the last', async () => {
    const { reads, at } = kept(3)
    expect(await at(between - 1)).toBeUndefined()
    expect(await at(4 * between)).toBeUndefined()
    expect(reads).toEqual([])
  })
})
