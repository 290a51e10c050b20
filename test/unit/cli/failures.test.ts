import { describe, expect, it } from 'vitest'
import { FailureTrail } from '../../../src/cli/diagnose/failures.js'

/** What `tally diagnose` reads off the journal of a run of any kind. */
describe('the trail of failures', () => {
  const at = { run: 'r', n: 0, at: 1 }
  const place = (path: string, attempt = 1) => ({ ...at, path, step: 2, attempt })
  const settled = (path: string, success: boolean, attempt = 1) => ({
    ...place(path, attempt),
    k: 'settled',
    response: { success, reason: 'block_threw', errorType: 'Error', details: {} }
  })
  const sent = (k: string, seq: number, rest: object) => ({
    ...place('root/pay'),
    ...{ k, seq, effect: 'card.charge', key: `key${seq}` },
    ...rest
  })
  const trailOf = (entries: readonly object[]) => {
    const trail = new FailureTrail()
    for (const entry of entries) trail.take(entry as never)
    return trail
  }

  it('has the steps whose last attempt failed, each with what that attempt has thrown', () => {
    const trail = trailOf([
      settled('root/price', false),
      settled('root/price', true, 2),
      settled('root/pay', false)
    ])
    const exception = { name: 'Error', message: 'refused', stack: [] }
    const thrown = { ...place('root/pay'), run: 'r', block: 'pay', exception } as never
    const other = { ...place('root/price'), run: 'r', block: 'price', exception } as never
    expect(trail.failed([thrown, other])).toEqual([
      {
        ...{ path: 'root/pay', step: 2, attempt: 1, reason: 'block_threw' },
        ...{ errorType: 'Error', details: {}, exceptions: [thrown] }
      }
    ])
  })

  it('has none that was skipped, and those that are to be tried again', () => {
    const decided = (path: string, action: string) => ({ ...place(path), k: 'decision', action })
    const trail = trailOf([
      settled('root/price', false),
      decided('root/price', 'skip'),
      settled('root/pay', false),
      decided('root/pay', 'retry')
    ])
    expect(trail.failed([]).map(({ path }) => path)).toEqual(['root/pay'])
  })

  it('says of each write that was sent whether it was done, failed, or is unknown', () => {
    const unknown = { ok: false, body: { reason: 'unknown_outcome' } }
    const trail = trailOf([
      ...[1, 2, 3, 4].map((seq) => sent('requested', seq, {})),
      sent('sealed', 1, { ok: true, body: null }),
      sent('sealed', 2, { ok: false, body: { reason: 'refused', definite: true } }),
      sent('sealed', 3, unknown),
      // A read is not journaled as a request.
      sent('sealed', 9, { ok: true, body: null })
    ])
    expect(trail.sent.map(({ key, state }) => `${key} ${state}`)).toEqual([
      'key1 landed',
      'key2 failed',
      'key3 unknown',
      'key4 unknown'
    ])
  })
})
