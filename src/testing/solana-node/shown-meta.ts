import type { RpcValue } from '../rpc-node/index.js'
import type { SolanaLibraries } from './libraries.js'
import type { Execution } from './machine.js'
import type { Holding, SentAccounts } from './resolver.js'
import { shownUnits } from './tokens.js'

type Kit = SolanaLibraries['kit']

/** The `meta` of a transaction, as `getTransaction` shows it. */
export function shownMeta(
  kit: Kit,
  {
    execution,
    accounts: { loaded },
    before,
    after
  }: {
    readonly execution: Execution
    readonly accounts: SentAccounts
    readonly before: readonly Holding[]
    readonly after: readonly Holding[]
  }
): RpcValue {
  const { error, fee, logs, units } = execution
  const returned = shownReturn(kit, execution)
  return {
    err: error,
    status: error === null ? { Ok: null } : { Err: error },
    fee,
    preBalances: before.map(({ lamports }) => lamports),
    postBalances: after.map(({ lamports }) => lamports),
    preTokenBalances: tokenBalances(before),
    postTokenBalances: tokenBalances(after),
    innerInstructions: shownInner(kit, execution),
    logMessages: logs,
    loadedAddresses: { writable: loaded.writable, readonly: loaded.readonly },
    // Nodes leave it out when there is none.
    ...(returned === null ? {} : { returnData: returned }),
    computeUnitsConsumed: units,
    rewards: []
  }
}

export function shownInner(kit: Kit, { inner }: Execution): RpcValue {
  return inner.flatMap((steps, index) => {
    if (steps.length === 0) return []
    const instructions = steps.map(({ programIdIndex, accounts, data, stackHeight }) => ({
      programIdIndex,
      accounts,
      data: kit.getBase58Decoder().decode(data),
      stackHeight
    }))
    return [{ index, instructions }]
  })
}

export function shownReturn(kit: Kit, { returned }: Execution): RpcValue {
  if (returned === undefined) return null
  const { program, data } = returned
  return { programId: program, data: [kit.getBase64Decoder().decode(data), 'base64'] }
}

function tokenBalances(holdings: readonly Holding[]): RpcValue {
  return holdings.flatMap(({ token }, accountIndex) => {
    if (token === undefined) return []
    const { mint, owner, program: programId, units, decimals } = token
    return [{ accountIndex, mint, owner, programId, uiTokenAmount: shownUnits(units, decimals) }]
  })
}
