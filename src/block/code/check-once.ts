import {
  type ActorPath,
  canonicalize,
  hashJson,
  type Json,
  type RunId,
  type UnitId
} from '../../core/index.js'
import type { Block } from '../define.js'
import type { Request } from '../protocol.js'
import { StateView } from '../run/state-view.js'
import { executeOnRecordedResults, type Reexecuted, type TapeEntry } from './reexecute.js'

/** What one execution outside any run came to. */
export interface OnceResult {
  readonly executed: Reexecuted
  readonly writes: readonly (readonly [key: string, text: string | null])[]
  readonly reads: readonly string[]
}

const noRequest: Pick<Request, 'context' | 'metadata'> = {
  context: {},
  metadata: {
    id: 'once',
    traceId: hashJson(['trace', 'once']).slice(0, 32),
    spanId: 'root:1',
    runId: 'once',
    blockName: 'once',
    nodeName: 'root',
    attempt: 1,
    sideEffectClass: 'none'
  }
}

/** Executes a block once, outside any run, at a fixed time with a fixed seed. */
export async function checkOnce(
  block: Block,
  given: {
    readonly input: Json
    readonly state: Readonly<Record<string, Json>>
    readonly tape: readonly TapeEntry[]
  }
): Promise<OnceResult> {
  const { input, state, tape } = given
  const below = new Map(Object.entries(state).map(([key, value]) => [key, canonicalize(value)]))
  const view = new StateView((key) => below.get(key))
  const unitId = hashJson(['once', block.name]) as unknown as UnitId
  const executed = await executeOnRecordedResults(
    {
      runId: 'once' as RunId,
      unitId,
      path: 'root' as ActorPath,
      attempt: 1,
      at: 1_700_000_000_000,
      seed: hashJson(['seed', unitId]),
      block,
      payload: input,
      request: noRequest,
      view,
      signal: new AbortController().signal
    },
    tape
  )
  return { executed, writes: [...view.writes], reads: [...view.reads.keys()] }
}
