import { defineBlock } from '../../../src/code/index.js'
import { type Json, type JsonObject, systemRandom } from '../../../src/core/index.js'
import { openMemoryStore } from '../../../src/ledger/index.js'
import { parseClientMessage } from '../../../src/owner/protocol.js'
import type { WiredRuntime } from '../../../src/runtime/runtime.js'
import { forgedLedger, verifyForged } from '../../support/forge.js'
import { functionCode, honestFunction } from '../../support/forged-function.js'
import { openOn } from '../../support/lives.js'
import type { FuzzTarget } from '../target.js'
import { endOf } from './opening.js'
import { forgedItems } from './verification.js'

/** Journals of workflows in code, and what another process sends their runs. */

const honest = await honestFunction()

/** Entries of the honest journal, from which the corpus was taken. */
export function functionTexts(): readonly string[] {
  return honest.items.flatMap(({ entries }) => entries)
}

/** What the holder of the key can make of the journal: hashes and signatures in order. */
async function forgedFunction(input: Buffer): Promise<unknown> {
  return verifyForged(await forgedLedger(forgedItems(input, honest.items)), true, functionCode)
}

/** The same of a run that has not ended: it is opened and resumed. */
async function forgedOpenFunction(input: Buffer): Promise<string> {
  const forged = forgedItems(input, honest.items.slice(0, -1))
  const store = await forgedLedger(forged).catch(() => undefined)
  return store === undefined ? 'not written' : endOf(store, functionCode)
}

const takes = defineBlock({
  name: 'takes',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => {
    for (;;) await ctx.signal('item', { type: 'object', required: ['amount'] })
  }
})

let waiting: Promise<WiredRuntime> | undefined

/** A run that takes one signal after the other. */
function runtimeOfSignals(): Promise<WiredRuntime> {
  waiting ??= (async () => {
    const code = { blocks: [takes], random: systemRandom }
    const tally = await openOn(openMemoryStore(), code)
    const nodes = { a: { block: 'takes' } }
    const about = { schema: 'tally-composite/1', name: 'order', version: '1.0.0' }
    await tally.start({ ...about, entry_point: 'a', nodes }, { id: 'order' })
    return tally
  })()
  return waiting
}

export async function closeSignals(): Promise<void> {
  await (await waiting)?.close()
}

/** A signal as another process sends it; other methods have targets of their own. */
async function sendSignal(input: Buffer): Promise<Json> {
  const message = parseClientMessage(input.toString('utf8')) as { readonly params?: JsonObject }
  const { service } = await runtimeOfSignals()
  const { signal } = new AbortController()
  return service({ method: 'signal', params: message.params ?? null, signal }) as Promise<Json>
}

export const functionTargets: Readonly<Record<string, FuzzTarget>> = {
  'function-journals': { readers: [], isSlow: true, read: forgedFunction },
  'open-function-journals': { readers: [], isSlow: true, read: forgedOpenFunction },
  'signal-calls': { readers: [], isSlow: true, read: sendSignal }
}
