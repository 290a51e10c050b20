import { type ProtocolDocument, protocolKey } from '../document/protocol.js'

/** Protocols by `name@version`. */
export type Protocols = ReadonlyMap<string, ProtocolDocument>

/** Protocols by their names; of two with the same name and version the first one counts. */
export function catalogueOf(protocols: Iterable<ProtocolDocument>): Protocols {
  const byKey = new Map<string, ProtocolDocument>()
  for (const protocol of protocols) {
    const key = protocolKey(protocol)
    if (!byKey.has(key)) byKey.set(key, protocol)
  }
  return byKey
}

/** Address of a contract on a chain (W8), and whose deployment says so. */
export interface Deployed {
  readonly address: string
  readonly from: string
}

/**
 * The deployment that a node means by a contract's name (W8): that of its own protocol on its
 * chain, else that of another protocol of the workflow, if exactly one has the name there.
 */
export function deployedContract(
  name: string,
  own: ProtocolDocument,
  chain: string,
  used: readonly ProtocolDocument[]
): Deployed | 'ambiguous' | undefined {
  const ownAddress = addressIn(own, chain, name)
  if (ownAddress !== undefined) return { address: ownAddress, from: protocolKey(own) }
  const others = used.flatMap((protocol) => {
    const address = protocol === own ? undefined : addressIn(protocol, chain, name)
    return address === undefined ? [] : [{ address, from: protocolKey(protocol) }]
  })
  const [first] = others
  if (first === undefined) return undefined
  return others.length === 1 ? first : 'ambiguous'
}

function addressIn(protocol: ProtocolDocument, chain: string, name: string): string | undefined {
  const deployment = protocol.deployments.find((one) => one.chain === chain)
  if (deployment === undefined || !Object.hasOwn(deployment.contracts, name)) return undefined
  return deployment.contracts[name]
}
