import { spendWork } from '../../core/index.js'
import type { FlowDocument } from '../document/flow.js'
import type { Issues } from '../document/issue.js'
import type { PackDocument } from '../document/pack.js'
import { protocolKey } from '../document/protocol.js'
import type { ResolvedNode } from './resolve.js'
import { chainFits } from './select.js'

/** Refuses what a pack does not include: other protocols, versions and chains (W12). */
export function checkIncluded({
  flow,
  pack,
  resolved,
  issues
}: {
  readonly flow: FlowDocument
  readonly pack: PackDocument
  readonly resolved: ReadonlyMap<string, ResolvedNode>
  readonly issues: Issues
}): void {
  const { requires_pack: wanted } = flow
  const { name, version } = pack.meta
  if (wanted !== undefined && (wanted.name !== name || wanted.version !== version)) {
    const message = `it needs the pack ${wanted.name}@${wanted.version}, not ${name}@${version}`
    issues.error('pack_mismatch', message, ['requires_pack'])
  }
  for (const { node, path, protocol, steps } of resolved.values()) {
    const here = issues.below(path, { nodeId: node.id })
    const key = protocolKey(protocol)
    spendWork(1 + (pack.includes.length >> 4))
    const included = pack.includes.find((one) => `${one.protocol}@${one.version}` === key)
    if (included === undefined) {
      here.error('pack_mismatch', `the pack ${name} does not include ${key}`, ['protocol'])
      continue
    }
    for (const { chain } of steps) {
      if (chainFits(chain, included.chain_scope)) continue
      here.error('pack_mismatch', `the pack ${name} does not let ${key} be used on ${chain}`)
    }
  }
}
