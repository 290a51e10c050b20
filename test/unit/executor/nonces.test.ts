import { describe, expect, it } from 'vitest'
import { limits, ManualClock } from '../../../src/core/index.js'
import { type NonceChain, NonceOwner, type SignedTransaction } from '../../../src/executor/index.js'

/** A chain that counts what it holds. */
class Counting implements NonceChain {
  included = 0
  readonly held = new Set<string>()
  readonly resent: string[] = []
  refuses = false

  async counts() {
    return { included: this.included, pending: this.included + this.held.size }
  }

  async resend({ hash }: SignedTransaction) {
    this.resent.push(hash)
    if (this.refuses) return 'refused' as const
    this.held.add(hash)
    return 'held' as const
  }
}

function transaction(hash: string, nonce: number): SignedTransaction {
  return { chain: 'eip155:1', from: '0xme', hash, nonce, validUntil: null, raw: hash }
}

const { signal } = new AbortController()
const prepare = (owner: NonceOwner, chain: Counting, hash: string, given = signal) =>
  owner.prepare(chain, given, async (nonce) => transaction(hash, nonce))

describe('the owner of the nonces of an account', () => {
  it('W11.1: lets one be prepared at a time, in order', async () => {
    const [owner, chain] = [new NonceOwner(new ManualClock()), new Counting()]
    const first = await prepare(owner, chain, 'a')
    const order: string[] = []
    const others = ['b', 'c'].map(async (hash) => {
      const next = await prepare(owner, chain, hash)
      order.push(hash)
      await owner.claim(next, signal)
      chain.held.add(hash)
      owner.sent(next)
      return next.nonce
    })
    expect(await owner.claim(first, signal)).toEqual({ kind: 'ours', fresh: true })
    expect(order).toEqual([])
    chain.held.add('a')
    owner.sent(first)
    expect(await Promise.all(others)).toEqual([1, 2])
    expect(order).toEqual(['b', 'c'])
  })

  it('W11.1: a preparation waits for no other for ever', async () => {
    const clock = new ManualClock()
    const [owner, chain] = [new NonceOwner(clock), new Counting()]
    const forgotten = await prepare(owner, chain, 'a')
    const next = prepare(owner, chain, 'b')
    clock.advance(limits.NONCE_LEASE_MS)
    expect((await next).nonce).toBe(forgotten.nonce)
    owner.sent(await next)
    expect(await owner.claim(forgotten, signal)).toEqual({ kind: 'superseded' })
  })

  it('lets go of who is cancelled while it waits, or after it has prepared', async () => {
    const [owner, chain] = [new NonceOwner(new ManualClock()), new Counting()]
    const cancelled = new AbortController()
    const first = await prepare(owner, chain, 'a', cancelled.signal)
    const waits = new AbortController()
    const waiting = prepare(owner, chain, 'b', waits.signal)
    waits.abort(new Error('cancelled'))
    await expect(waiting).rejects.toThrow('cancelled')
    const third = prepare(owner, chain, 'c')
    cancelled.abort()
    expect((await third).nonce).toBe(first.nonce)
  })

  it('W11.2: keeps what was perhaps sent from being superseded', async () => {
    const [owner, chain] = [new NonceOwner(new ManualClock()), new Counting()]
    const first = await prepare(owner, chain, 'a')
    await owner.claim(first, signal)
    owner.sent(first)
    // No answer came, and the node refuses it now: its nonce is used, but only the chain can tell.
    chain.refuses = true
    const second = await prepare(owner, chain, 'b')
    expect(second.nonce).toBe(0)
    await owner.claim(second, signal)
    owner.sent(second)
    expect(await owner.claim(first, signal)).toEqual({ kind: 'taken' })
  })

  it('W11.3: sends again what the chain has not heard of, before the next', async () => {
    const [owner, chain] = [new NonceOwner(new ManualClock()), new Counting()]
    const first = await prepare(owner, chain, 'a')
    await owner.claim(first, signal)
    owner.sent(first)
    expect((await prepare(owner, chain, 'b')).nonce).toBe(1)
    expect(chain.resent).toEqual(['a'])
  })

  it('W11: knows what earlier processes prepared, and what became of it', async () => {
    const [owner, chain] = [new NonceOwner(new ManualClock()), new Counting()]
    chain.included = 4
    owner.recover([
      { transaction: transaction('old', 3), wasSent: true },
      { transaction: transaction('unsent', 4), wasSent: false },
      { transaction: transaction('sent', 4), wasSent: true },
      { transaction: transaction('later', 5), wasSent: false }
    ])
    const next = await prepare(owner, chain, 'next')
    expect(next.nonce).toBe(5)
    expect(chain.resent).toEqual(['sent'])
    owner.sent(next)
    expect(await owner.claim(transaction('unsent', 4), signal)).toEqual({ kind: 'superseded' })
    expect(await owner.claim(transaction('later', 5), signal)).toEqual({ kind: 'superseded' })
  })

  it('frees the nonce of what was refused, and of what could not be built', async () => {
    const [owner, chain] = [new NonceOwner(new ManualClock()), new Counting()]
    const fails = owner.prepare(chain, signal, () => Promise.reject(new Error('no gas')))
    await expect(fails).rejects.toThrow('no gas')
    const first = await prepare(owner, chain, 'a')
    await owner.claim(first, signal)
    owner.refused(first)
    const second = await prepare(owner, chain, 'b')
    expect(second.nonce).toBe(0)
    owner.sent(second)
    expect(await owner.claim(first, signal)).toEqual({ kind: 'superseded' })
  })
})
