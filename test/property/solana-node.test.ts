import {
  isSolanaError,
  type KeyPairSigner,
  SOLANA_ERROR__TRANSACTION_ERROR__ALREADY_PROCESSED,
  SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND
} from '@solana/kit'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type SolanaNode, startSolanaNode } from '../../src/testing/solana-node/index.js'
import { cases, testMs } from '../support/effort.js'
import { clientOf, signerOf, transferOf } from '../support/solana-node-under-test.js'

/**
 * A Solana node of tests against the rules of nodes, written down once more: heights and slots as
 * plain numbers, and what `solana.com/docs/rpc` says of each answer.
 */

const FUNDS = 1_000_000_000n
const FEE = 5_000n
const VALID_BLOCKS = 150
const RECENT_BLOCKS = 332
const depths = { processed: 0, confirmed: 2, finalized: 32 } as const
type Commitment = keyof typeof depths
const commitments: readonly Commitment[] = ['processed', 'confirmed', 'finalized']

type Deed =
  | { readonly do: 'sign'; readonly commitment: Commitment }
  | { readonly do: 'send'; readonly which: number; readonly commitment: Commitment | null }
  | { readonly do: 'look'; readonly which: number; readonly isDeep: boolean }
  | { readonly do: 'advance'; readonly slots: number }
  | { readonly do: 'hold'; readonly which: number }
  | { readonly do: 'mining' | 'forget' | 'move' }

/** One transaction, as the rules see it. */
interface Known {
  readonly number: number
  readonly sent: Awaited<ReturnType<ReturnType<typeof clientOf>['signed']>>
  /** Height of the block that its blockhash is from. */
  readonly from: number
  landed: number | undefined
  isWaiting: boolean
}

const commitment = fc.constantFrom(...commitments)
const which = fc.nat({ max: 7 })
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('sign' as const), commitment }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      which,
      commitment: fc.option(commitment)
    })
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('look' as const), which, isDeep: fc.boolean() })
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      slots: fc.oneof(
        fc.nat({ max: 3 }),
        fc.constantFrom(30, 31, 32, 118, 147, 148, 150, 300, 331, 332)
      )
    })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('hold' as const), which }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('mining' as const, 'forget' as const, 'move' as const)
    })
  }
)

it(
  'a Solana node of tests answers by the rules of nodes, whatever was done to it',
  async () => {
    const [alice, bob] = await Promise.all([signerOf(1), signerOf(2)])
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { minLength: 5, maxLength: 40 }), async (deeds) => {
        const play = new Play(await startSolanaNode(begun(alice, bob)), alice, bob)
        try {
          for (const one of deeds) await play.do(one)
          await play.agree()
        } finally {
          await play.node.close()
        }
      }),
      { numRuns: cases({ usual: 4, long: 55, soak: 3_000 }) }
    )
  },
  testMs(600_000)
)

function begun(...signers: readonly KeyPairSigner[]) {
  const balances = Object.fromEntries(signers.map(({ address }) => [address, FUNDS]))
  return { balances, slotsPerRequest: 0 }
}

class Play {
  node: SolanaNode
  readonly #alice: KeyPairSigner
  readonly #bob: KeyPairSigner
  readonly #known: Known[] = []
  readonly #held = new Set<string>()
  #height: number
  #isMining = true

  constructor(node: SolanaNode, alice: KeyPairSigner, bob: KeyPairSigner) {
    this.node = node
    this.#alice = alice
    this.#bob = bob
    this.#height = node.blockHeight
    node.holds = (signature) => this.#held.has(signature)
  }

  async do(deed: Deed): Promise<void> {
    switch (deed.do) {
      case 'sign':
        return this.#sign(deed.commitment)
      case 'send':
        return this.#send(deed)
      case 'look':
        return this.#look(deed)
      case 'advance':
        return this.#advance(deed.slots)
      case 'hold': {
        const known = this.#at(deed.which)
        if (known === undefined) return
        const { signature } = known.sent
        if (!this.#held.delete(signature)) this.#held.add(signature)
        return
      }
      case 'mining':
        this.#isMining = !this.#isMining
        this.node.mining = this.#isMining
        return
      case 'forget':
        this.node.forgetPool()
        for (const known of this.#known) known.isWaiting = false
        return
      case 'move':
        return this.#move()
    }
  }

  /** What has landed has cost its fee and moved its lamports; nothing else has happened. */
  async agree(): Promise<void> {
    const landed = this.#known.filter((one) => one.landed !== undefined)
    const moved = landed.reduce((sum, { number }) => sum + BigInt(number), 0n)
    expect(this.node.lamports(this.#bob.address)).toBe(FUNDS + moved)
    const paid = moved + FEE * BigInt(landed.length)
    expect(this.node.lamports(this.#alice.address)).toBe(FUNDS - paid)
    const { rpc } = clientOf(this.node)
    for (const one of commitments) {
      const height = this.#height - depths[one]
      expect(await rpc.getBlockHeight({ commitment: one }).send()).toBe(BigInt(height))
      if (one === 'processed') continue
      const listed = await rpc
        .getSignaturesForAddress(this.#bob.address, { commitment: one })
        .send()
      const seen = landed.filter((known) => (known.landed ?? 0) <= height)
      expect(listed.map(({ signature }) => signature).toSorted()).toEqual(
        seen.map(({ sent }) => sent.signature).toSorted()
      )
    }
  }

  async #sign(commitment: Commitment): Promise<void> {
    const number = this.#known.length + 1
    const { signed } = clientOf(this.node)
    const moving = transferOf(this.#alice, this.#bob.address, BigInt(number))
    const sent = await signed(this.#alice, [moving], commitment)
    const from = this.#height - depths[commitment]
    expect(sent.lifetime.lastValidBlockHeight).toBe(BigInt(from + VALID_BLOCKS))
    this.#known.push({ number, sent, from, landed: undefined, isWaiting: false })
  }

  async #send(deed: Extract<Deed, { readonly do: 'send' }>): Promise<void> {
    const known = this.#at(deed.which)
    if (known === undefined) return
    const { send } = clientOf(this.node)
    const options =
      deed.commitment === null ? { skipPreflight: true } : { preflightCommitment: deed.commitment }
    const expected = deed.commitment === null ? null : this.#refusalOf(known, deed.commitment)
    const answer = await send(known.sent, options).catch((error: unknown) => errorOf(error))
    expect(answer).toBe(expected ?? known.sent.signature)
    if (expected !== null || known.landed !== undefined) return
    if (!this.#isMining || this.#held.has(known.sent.signature)) known.isWaiting = true
    else this.#include(known)
  }

  #refusalOf(known: Known, commitment: Commitment): string | null {
    const height = this.#height - depths[commitment]
    if (known.from > height || height > known.from + VALID_BLOCKS) return 'BlockhashNotFound'
    return known.landed === undefined ? null : 'AlreadyProcessed'
  }

  async #look({ which, isDeep }: Extract<Deed, { readonly do: 'look' }>): Promise<void> {
    const known = this.#at(which)
    if (known === undefined) return
    const { rpc } = clientOf(this.node)
    const { value } = await rpc
      .getSignatureStatuses([known.sent.signature], { searchTransactionHistory: isDeep })
      .send()
    const { landed } = known
    const depth = landed === undefined ? undefined : this.#height - landed
    if (depth === undefined || (depth >= RECENT_BLOCKS && !isDeep)) {
      expect(value).toEqual([null])
      return
    }
    const isFinal = depth >= depths.finalized
    expect(value[0]).toMatchObject({
      confirmations: isFinal ? null : BigInt(depth),
      err: null,
      confirmationStatus: commitments.findLast((one) => depth >= depths[one])
    })
  }

  #advance(slots: number): void {
    this.node.advance(slots)
    for (let begun = 0; begun < slots; begun += 1) {
      this.#height += 1
      for (const known of this.#known) {
        if (known.isWaiting && !this.#held.has(known.sent.signature)) this.#include(known)
      }
    }
    const waiting = this.#known.filter(({ isWaiting }) => isWaiting)
    for (const known of waiting) {
      if (this.#height > known.from + VALID_BLOCKS) known.isWaiting = false
    }
  }

  #include(known: Known): void {
    known.isWaiting = false
    if (this.#height <= known.from + VALID_BLOCKS) known.landed ??= this.#height
  }

  /** Another process continues with the chain. */
  async #move(): Promise<void> {
    const state = this.node.save()
    await this.node.close()
    const { holds } = this.node
    this.node = await startSolanaNode({ state, slotsPerRequest: 0 })
    this.node.holds = holds
    this.node.mining = this.#isMining
  }

  #at(which: number): Known | undefined {
    return this.#known[which % Math.max(1, this.#known.length)]
  }
}

/** Name of the transaction's error by which a node has refused it. */
function errorOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (isSolanaError(cause, SOLANA_ERROR__TRANSACTION_ERROR__ALREADY_PROCESSED)) {
    return 'AlreadyProcessed'
  }
  if (isSolanaError(cause, SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND)) {
    return 'BlockhashNotFound'
  }
  return String(error)
}
