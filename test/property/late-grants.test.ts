import { describe, expect, it } from 'vitest'
import type { OpenWait } from '../../src/block/index.js'
import { grantKey } from '../../src/capability/index.js'
import { defineBlock } from '../../src/code/index.js'
import { type Hash, ManualClock } from '../../src/core/index.js'
import { openMemoryStore } from '../../src/ledger/index.js'
import { storeAround } from '../../src/ledger/stores/store-around.js'
import type { RunHandle, WiredRuntime } from '../../src/runtime/index.js'
import { openOn, settleDown } from '../support/lives.js'

/**
 * An approval of a wait for permission grants, and then ends the wait. It is given in time, and the
 * wait may end while the disk writes the grant.
 */

const codeHash = 'ab'.repeat(32) as Hash
const timeMs = 500

const permit = defineBlock({
  name: 'permit',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => {
    const request = { codeHash, capabilities: ['storage.read'] }
    return (await ctx.wait({ reason: 'permission', request })).action
  }
})

const document = {
  schema: 'tally-composite/1',
  name: 'one',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block: 'permit', timeout_ms: timeMs } }
}

/** A run that waits for a grant, on a store whose commits wait while it is held. */
class Held {
  readonly clock = new ManualClock()
  readonly #inner = openMemoryStore()
  #released: Promise<void> | undefined
  #release = () => {}
  tally!: WiredRuntime
  run!: RunHandle
  wait!: OpenWait

  static async opened(): Promise<Held> {
    const held = new Held()
    const store = storeAround(held.#inner, {
      commit: async (items) => {
        await held.#released
        return held.#inner.commit(items)
      }
    })
    held.tally = await openOn(store, { blocks: [permit], clock: held.clock })
    held.run = held.tally.begin(document, { id: 'r' })
    for await (const event of held.run) if (event.type === 'waiting') break
    const [wait] = await held.run.waits()
    if (wait === undefined) throw new Error('it waits for nothing')
    held.wait = wait
    return held
  }

  /** The answer, once its grant is on the way to the disk. */
  async approve(): Promise<{ readonly outcome: ReturnType<RunHandle['approve']> }> {
    this.#released = new Promise((resolve) => {
      this.#release = resolve
    })
    const { token, digest } = this.wait
    const outcome = this.run.approve(token, { digest })
    await this.settled()
    return { outcome }
  }

  settled(): Promise<void> {
    return settleDown(() => this.tally.ledger.backlog().items)
  }

  release(): void {
    this.#release()
    this.#released = undefined
  }

  /** How the run has ended, in a ledger that is executed again. */
  async ended() {
    const { status } = await this.run.result
    expect(await this.tally.replay()).toMatchObject({ ok: true })
    await this.tally.close()
    return status
  }
}

const ends: Readonly<Record<string, (held: Held) => void>> = {
  'by its time': ({ clock }) => void clock.advance(timeMs),
  'by a cancellation': ({ run }) => void run.cancel('enough')
}

describe('an approval that was given in time', () => {
  it.each(Object.entries(ends))(
    'K5: grants, also where the wait ends meanwhile: %s',
    async (_, end) => {
      const held = await Held.opened()
      const { outcome } = await held.approve()
      end(held)
      await held.settled()
      held.release()
      expect(await outcome).toEqual({ accepted: true })
      const { identity } = held.tally.ledger
      const key = grantKey({ identity, codeHash, capability: 'storage.read' })
      expect(held.tally.ledger.read(key)).toBeDefined()
      expect(await held.ended()).not.toBe('done')
    }
  )

  it('K5: ends the wait where time is left once the grant is written', async () => {
    const held = await Held.opened()
    const { outcome } = await held.approve()
    held.clock.advance(timeMs - 1)
    held.release()
    expect(await outcome).toEqual({ accepted: true })
    expect(await held.ended()).toBe('done')
  })
})
