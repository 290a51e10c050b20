import type { AgentAdapter } from '../adapters/adapter.js'
import { defineFlowKind } from '../position/blocks.js'
import type { FlowHost } from './flow-host.js'

/**
 * A host that has every adapter, tool and kind: to check and draw a flow by itself, whatever its
 * names lead to. Nothing compiled with it is to be run.
 */
export const anyFlowHost: FlowHost = {
  adapters: { has: () => true, kinds: () => [], adapter: anyAdapter },
  tool: (name) => ({
    name,
    description: '',
    parameters: {},
    sideEffects: 'non_idempotent',
    perform: () => null
  }),
  documentSecrets: 'any',
  kind: (kind) =>
    /^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)*$/.test(kind)
      ? defineFlowKind({ kind, version: 'any', run: () => ({}) })
      : undefined
}

function anyAdapter(kind: string): AgentAdapter {
  return { kind, open: () => Promise.reject(new Error('a flow is only looked at')) }
}
