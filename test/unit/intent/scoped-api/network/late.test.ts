import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { unlessLate } from '../../../../../src/intent/scoped-api/network/late.js'

describe('work that may be late', () => {
  it('gives what the work gives, and leaves no listener behind', async () => {
    const late = new AbortController()
    expect(await unlessLate(late.signal, Promise.resolve('found'))).toBe('found')
    const broken = Promise.reject(new Error('no such name'))
    await expect(unlessLate(late.signal, broken)).rejects.toThrow('no such name')
    expect(getEventListeners(late.signal, 'abort')).toEqual([])
  })

  it('is left to itself when it is late, also when that is so from the start', async () => {
    const late = new AbortController()
    const waiting = unlessLate(late.signal, new Promise(() => undefined))
    late.abort()
    await expect(waiting).rejects.toMatchObject({ reason: 'timed_out' })
    await expect(unlessLate(late.signal, Promise.resolve(1))).rejects.toMatchObject({
      reason: 'timed_out'
    })
  })
})
