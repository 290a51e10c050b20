import type { BindingHost } from '../binding/bind.js'
import type { FlowKind } from '../position/blocks.js'

/** What a host brings that flows may name. */
export interface FlowHost extends BindingHost {
  kind(kind: string): FlowKind | undefined
}
