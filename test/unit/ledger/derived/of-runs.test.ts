import { describe, expect, it } from 'vitest'
import { limits, type RunId } from '../../../../src/core/index.js'
import { codesOf } from '../../../../src/ledger/derived/codes.js'
import { RecordsOfRuns } from '../../../../src/ledger/derived/of-runs.js'
import { codedForm } from '../../../../src/ledger/derived/record-form.js'
import { StoreKeys } from '../../../../src/ledger/keys.js'
import { openMemoryStore } from '../../../../src/ledger/stores/memory.js'
import { fixedIdentity } from '../core/support.js'

const { identity, blobKey } = fixedIdentity()
const keys = new StoreKeys(identity)
const RUN = 'long' as RunId

function opened() {
  const store = openMemoryStore()
  const records = new RecordsOfRuns(store, keys, codedForm(codesOf(blobKey)))
  const write = async (durable: number) => {
    const { puts, deletes, written } = records.batch(durable, 1)
    await store.commit([{ puts, deletes }])
    written()
    return [...puts.map(([key]) => key), ...deletes]
  }
  return { records, write }
}

describe('L1: what runs write beside their journals', () => {
  it('waits for its position, and is there meanwhile', async () => {
    const { records, write } = opened()
    records.savePicture({ runId: RUN, stretch: 0 }, 'early', 3)
    records.savePicture({ runId: RUN, stretch: 1 }, 'late', 7)
    expect(await write(3)).toEqual([keys.picture(RUN, 0)])
    expect(records.picture({ runId: RUN, stretch: 0 })).toBe('early')
    expect(records.picture({ runId: RUN, stretch: 1 })).toBe('late')
    expect(await write(7)).toEqual([keys.picture(RUN, 1)])
    expect(records.picture({ runId: RUN, stretch: 1 })).toBe('late')
    expect(await write(7)).toEqual([])
  })

  it('is not forgotten where it is saved anew while it is written', async () => {
    const { records, write } = opened()
    records.saveCheckpoint(RUN, { text: '{"n":1}', entries: 1 }, 1)
    const { written } = records.batch(1, 1)
    records.saveCheckpoint(RUN, { text: '{"n":2}', entries: 2 }, 1)
    written()
    expect(await write(1)).toEqual([keys.checkpoint(RUN)])
    expect(records.checkpoint(RUN)).toEqual({ text: '{"n":2}', entries: 2 })
    records.saveCheckpoint(RUN, null, 1)
    expect(records.checkpoint(RUN)).toBeUndefined()
    expect(await write(1)).toEqual([keys.checkpoint(RUN)])
    expect(records.checkpoint(RUN)).toBeUndefined()
  })

  it.each([
    ['pictures', limits.DERIVE_PICTURE_BYTES],
    ['checkpoints', limits.DERIVE_CHECKPOINT_BYTES]
  ])('has a batch of its own once so much of %s waits', async (kind, bytesMax) => {
    const { records, write } = opened()
    const save = (stretch: number, length: number) =>
      kind === 'pictures'
        ? records.savePicture({ runId: RUN, stretch }, 'x'.repeat(length), 1)
        : records.saveCheckpoint(`${RUN}-${stretch}` as RunId, checkpointOf(length), 1)
    save(0, bytesMax / 2)
    save(1, bytesMax / 2 - 1)
    // In place of the one before.
    save(1, bytesMax / 2 - 1)
    expect(records.isDue).toBe(false)
    save(2, 8)
    expect(records.isDue).toBe(true)
    await write(1)
    expect(records.isDue).toBe(false)
  })
})

/** A checkpoint of which so many characters are kept, with the count of its entries. */
const checkpointOf = (length: number) => ({ text: 'x'.repeat(length - 2), entries: 1 })
