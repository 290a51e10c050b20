import { describe, expect, it } from 'vitest'
import { CommitQueue } from '../../../../src/ledger/commit/queue.js'

/** A queue of names, whose first letter is their run, with the batches that it has written. */
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
    runOf: (name) => name.charAt(0),
    onChange: () => undefined,
    onFail: (error) => error as Error
  })
  const push = (name: string) => queue.push(name, 1)
  const append = (name: string) => queue.durable(push(name))
  return { written, push, append, durable: (position: number) => queue.durable(position) }
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

  it('D2: takes a position that nothing has yet for the last one', async () => {
    const { written, push, durable } = queueOf()
    await durable(Number.MAX_SAFE_INTEGER)
    push('first')
    await durable(Number.MAX_SAFE_INTEGER)
    expect(written).toEqual([['first']])
    await durable(2)
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

  it('D2: writes together what several runs append whose ends one caller waits for', async () => {
    const { written, push, durable } = queueOf()
    for (let round = 1; round <= 3; round += 1) {
      // The first asks before the others append, as ends of single-step runs do.
      const waited = durable(push(`a${round}`))
      for (const run of ['b', 'c']) push(`${run}${round}`)
      await waited
    }
    expect(written).toEqual([
      ['a1', 'b1', 'c1'],
      ['a2', 'b2', 'c2'],
      ['a3', 'b3', 'c3']
    ])
  })

  it('D2: begins the flush at once for the only run, however much it appends', async () => {
    const { written, push, durable } = queueOf()
    await durable(push('a1'))
    push('a2')
    const second = durable(push('a3'))
    expect(written).toEqual([['a1'], ['a2', 'a3']])
    await second
    const third = durable(push('a4'))
    expect(written.at(-1)).toEqual(['a4'])
    await third
  })
})
