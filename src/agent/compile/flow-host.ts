import type { BoundedHost } from '../binding/bounds.js'
import type { FlowKind } from '../position/blocks.js'

/** What a host brings that flows may name. */
export interface FlowHost extends BoundedHost {
  kind(kind: string): FlowKind | undefined
}
