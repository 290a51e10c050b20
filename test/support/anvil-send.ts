import { randomUUID } from 'node:crypto'
import { defineBlock } from '../../src/code/index.js'
import { type Json, systemClock } from '../../src/core/index.js'
import {
  chainProviders,
  type Executor,
  readChain,
  type SendOptions,
  sendTransaction
} from '../../src/executor/index.js'
import { openMemoryStore } from '../../src/ledger/stores/memory.js'
import type { Store } from '../../src/ledger/stores/port.js'
import type { RunResult, WiredRuntime } from '../../src/runtime/index.js'
import { openOn } from './lives.js'

/** A leaf that carries out the write it is given. */
export const sendBlock = defineBlock({
  name: 'chain.send',
  version: '1.0.0',
  sideEffects: 'idempotent',
  run: async (ctx, input) => {
    const { hash, confirmations, outputs } = await sendTransaction(ctx, input as SendOptions)
    return { hash, confirmations, outputs } as Json
  }
})

/** A leaf that reads. */
export const readBlock = defineBlock({
  name: 'chain.read',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx, input) => readChain(ctx, input as Parameters<typeof readChain>[1])
})

/** One node that sends; `node` adds recovery and the like. */
export function sending(node: Json = {}): Json {
  return {
    schema: 'tally-composite/1',
    name: 'sending',
    version: '1.0.0',
    entry_point: 'send',
    nodes: { send: { block: 'chain.send', ...(node as object) } },
    transitions: {}
  }
}

/** A runtime in memory whose leaves reach the chains of these executors. */
export function openSending(
  executors: readonly Executor[],
  store: Store = openMemoryStore()
): Promise<WiredRuntime> {
  return openOn(store, {
    blocks: [sendBlock, readBlock],
    providers: chainProviders(executors),
    clock: systemClock
  })
}

/** Sends once in a run of its own, and gives how it ended. */
export async function sendOnce(
  runtime: WiredRuntime,
  options: SendOptions,
  { id, node }: { readonly id?: string; readonly node?: Json } = {}
): Promise<RunResult> {
  const inputs = options as unknown as Json
  return runtime.begin(sending(node), { id: id ?? randomUUID(), inputs }).result
}

/** Reads once in a run of its own. */
export async function readingOf(
  runtime: WiredRuntime,
  request: Parameters<typeof readChain>[1]
): Promise<RunResult> {
  const document = sending() as { readonly nodes: object }
  const reading = { ...document, nodes: { send: { block: 'chain.read' } } }
  const inputs = request as unknown as Json
  return runtime.begin(reading as unknown as Json, { id: randomUUID(), inputs }).result
}
