import { describe, expect, it } from 'vitest'
import { CommitQueue } from '../../../../src/ledger/commit/queue.js'

/** A queue of names, with the batches that it has written. */
function queueOf() {
  const written: (readonly string[])[] = []
  const queue = new CommitQueue<string>({
    write: async (items) => {
      written.push(items)
    },
    flushItemsMax: 100,
    flushBytesMax: 1_000,
    readyItems: 50,
    readyBytes: 500,
    onChange: () => undefined,
    onFail: (error) => error as Error
  })
  const append = (name: string) => queue.durable(queue.push(name, 1))
  return { written, append }
}

describe('CommitQueue', () => {
  it('D2: begins the flush at once for a caller that alone waited for the last flush', async () => {
    const { written, append } = queueOf()
    const first = append('first')
    expect(written).toEqual([])
    await first
    const second = append('second')
    expect(written).toEqual([['first'], ['second']])
    await second
  })

  it('D2: writes together what callers append that waited for the same flush', async () => {
    const { written, append } = queueOf()
    const rounds = async (name: string) => {
      for (let round = 1; round <= 3; round += 1) await append(`${name}${round}`)
    }
    await Promise.all([rounds('a'), rounds('b')])
    expect(written).toEqual([
      ['a1', 'b1'],
      ['a2', 'b2'],
      ['a3', 'b3']
    ])
  })

  it('D2: writes in one later flush what comes while the flush of one caller is under way', async () => {
    const { written, append } = queueOf()
    await append('alone')
    await Promise.all([append('first'), append('second'), append('third')])
    expect(written).toEqual([['alone'], ['first'], ['second', 'third']])
  })
})
