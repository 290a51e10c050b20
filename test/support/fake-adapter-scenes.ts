import type { FakeTurn } from '../../src/agent/index.js'
import { type AdapterScene, adapterScenes } from '../../src/testing/index.js'

/** The scenes of the suite for adapters, as the fake adapter plays them. */
export const fakeAdapterScenes: Readonly<Record<AdapterScene, FakeTurn>> = {
  text: { ...adapterScenes.text, chunkLength: 5 },
  reasoning: adapterScenes.reasoning,
  structured: adapterScenes.structured,
  unstructured: adapterScenes.unstructured,
  tools: {
    toolCalls: [
      { id: 'call-1', name: 'look_up', arguments: JSON.parse(adapterScenes.tools.arguments) }
    ]
  },
  unauthorized: { fails: 'unauthorized' },
  lost: { fails: 'connection_lost' },
  hang: { hangs: true }
}
