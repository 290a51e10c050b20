import { Overlay } from '../../src/block/run/overlay.js'
import type { LeafWork } from '../../src/block/run/run-state.js'
import { unitIdOf } from '../../src/block/run/unit.js'
import { type Block, defineBlock } from '../../src/code/block.js'
import { StateView } from '../../src/code/state-view.js'
import { type Json, sha256Hex } from '../../src/core/index.js'
import { testRequest } from './fake-pump.js'
import { runId } from './run-of-test.js'

/** Work that a leaf has done, and overlays, without a run that has led to them. */

export const workHash = sha256Hex('hash')
export const workReference = {
  seq: 1,
  effect: 'look',
  requestHash: workHash,
  responseHash: workHash,
  bytes: 4
}
export const workSeed = { base: 'GENESIS', value: workHash } as const
export const workBlock: Block = defineBlock({
  name: 'pay',
  version: '2.0.0',
  capabilities: ['look'],
  private: { input: true },
  run: () => null
})

/** What a receipt says of work that the kernel has given to a provider. */
export const workAttribution = {
  action: 'intent.pay',
  dappId: 'wallet@1',
  provider: { kind: 'package', id: 'wallet@1', codeHash: workHash },
  payloadText: '{"to":"alice"}',
  capabilitiesDeclared: ['chain'],
  isInputPrivate: false,
  isOutputPrivate: true,
  profile: { engine: 1 },
  raw: 'pay alice'
}

export function leafWork(path: string, more: object = {}): LeafWork {
  const request = testRequest({ a: 1 })
  const ask = { kind: 'attempt', path, step: 2, attempt: 3, block: 'pay', provider: null }
  const view = new StateView(() => undefined)
  return {
    unitId: unitIdOf(runId, path, 2),
    block: workBlock,
    ask: { ...ask, request, options: {}, sideEffects: 'none' },
    at: 5,
    seed: workSeed,
    view,
    capabilitiesUsed: ['look'],
    attribution: undefined,
    sealedReferences: () => [workReference],
    ...more
  } as LeafWork
}

/** An overlay of the composite at a path, inside of another or of none. */
export function overlayAt(path: string, outer?: Overlay, payload: Json = null): Overlay {
  const opened = { kind: 'scope.open', path, step: 1, attempt: 4, block: 'all' } as const
  const ask = { ...opened, request: testRequest(payload), outermost: outer === undefined }
  return new Overlay(ask, { at: 6, outer, below: (key) => outer?.view.read(key) })
}
