import type { BlockContext } from '../../code/index.js'
import type { ReadyNode } from '../readiness/readiness.js'
import type { Gathered } from './gather.js'
import type { Executed } from './node-run.js'
import { hasRules } from './node-spec.js'
import type { NodeInput, NodeResult } from './spec.js'

/** What a node gives that was executed. */
export function resultOf(
  { spec }: NodeInput,
  { patches }: Gathered,
  { calculated, amounts }: Pick<ReadyNode, 'calculated' | 'amounts'>,
  { status, outputs }: Executed
): NodeResult {
  const isTyped = hasRules(spec, 3) && amounts !== undefined
  if (isTyped) return { status, outputs, calculated, amounts, patches }
  return { status, outputs, calculated, patches }
}

/** What a node gives of which a condition is false. */
export function skipped(ctx: BlockContext, { spec }: NodeInput, { patches }: Gathered): NodeResult {
  ctx.log('skipped', { node: spec.node.id })
  return { status: 'skipped', outputs: {}, calculated: {}, patches }
}

export function tellReady(ctx: BlockContext, { spec }: NodeInput): void {
  ctx.log('node_ready', { node: spec.node.id, chain: spec.node.chain })
}
