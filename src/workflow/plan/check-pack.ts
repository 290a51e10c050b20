import { spendWork } from '../../core/index.js'
import type { FlowDocument } from '../document/flow.js'
import type { Issues } from '../document/issue.js'
import type { PackDocument } from '../document/pack.js'
import { documentHash } from '../document/parse.js'
import { protocolKey } from '../document/protocol.js'
import type { ResolvedNode } from './resolve.js'
import { chainFits } from './select.js'

/** Refuses what a pack does not include: other protocols, versions, texts and chains (W12). */
export function checkIncluded({
  flow,
  packs,
  resolved,
  issues
}: {
  readonly flow: FlowDocument
  readonly packs: readonly PackDocument[]
  readonly resolved: ReadonlyMap<string, ResolvedNode>
  readonly issues: Issues
}): void {
  const { requires_pack: wanted } = flow
  const [last] = packs.slice(-1)
  const isWanted = ({ meta: { name, version } }: PackDocument) =>
    wanted === undefined || (wanted.name === name && wanted.version === version)
  if (last !== undefined && wanted !== undefined && !packs.some(isWanted)) {
    const { name, version } = last.meta
    const message = `it needs the pack ${wanted.name}@${wanted.version}, not ${name}@${version}`
    issues.error('pack_mismatch', message, ['requires_pack'])
  }
  for (const pack of packs) checkPack(pack, resolved, issues)
}

function checkPack(
  { meta: { name }, includes }: PackDocument,
  resolved: ReadonlyMap<string, ResolvedNode>,
  issues: Issues
): void {
  for (const { node, path, protocol, steps } of resolved.values()) {
    const here = issues.below(path, { nodeId: node.id })
    const key = protocolKey(protocol)
    spendWork(1 + (includes.length >> 4))
    const included = includes.find((one) => `${one.protocol}@${one.version}` === key)
    if (included === undefined) {
      here.error('pack_mismatch', `the pack ${name} does not include ${key}`, ['protocol'])
      continue
    }
    if (included.integrity !== undefined) {
      const found = `sha256:${documentHash(protocol)}`
      if (found !== included.integrity) {
        const pinned = included.integrity
        const message = `the pack ${name} includes another ${key}: ${pinned}, not ${found}`
        here.error('integrity_mismatch', message, ['protocol'])
      }
    }
    for (const { chain } of steps) {
      if (chainFits(chain, included.chain_scope)) continue
      here.error('pack_mismatch', `the pack ${name} does not let ${key} be used on ${chain}`)
    }
  }
}
