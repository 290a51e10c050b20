import type { JsonObject } from '../../core/index.js'
import type { CallMoves, ChainCall } from '../../executor/index.js'
import type { SimpleExecution } from '../document/execution.js'
import { type CallEffect, erc20Asset, type Measured, tokenAsset } from './effect.js'
import { measureEvm, unknownEvm } from './measure-evm.js'
import { measureSolana, unknownSolana } from './measure-solana.js'

/**
 * What a write does with what its account owns, from the call itself and from nothing that its
 * protocol says of it (W15). Pure.
 */
export function measure(
  chain: string,
  execution: JsonObject & { readonly type: string }
): Measured {
  switch (execution.type) {
    case 'evm_call':
    case 'evm_multicall':
      return measureEvm(chain, execution)
    case 'solana_instruction':
      return measureSolana(chain, execution)
    default:
      return { effects: [], undecoded: [`${execution.type} on ${chain}`] }
  }
}

/** What a write does that is carried out as a call of its chain. */
export function measureCall(chain: string, { execution, moves }: ChainCall): Measured {
  const { effects, undecoded } = measure(chain, execution)
  if (moves === undefined || !isSound(moves)) return { effects, undecoded }
  const paid = moves.receivers.map(
    (one): CallEffect => ({ kind: 'payout', receiver: one.address, chain: one.chain })
  )
  if (undecoded.length === 0) return { effects: [...effects, ...paid], undecoded }
  // Bytes are believed before what is said of them; nothing says what else a known call does.
  const assetOf = chain.startsWith('eip155:') ? erc20Asset : tokenAsset
  const spent = moves.spends.map(
    ({ token, amount, to }): CallEffect => ({
      kind: 'transfer',
      asset: assetOf(chain, token),
      amount,
      to
    })
  )
  return { effects: [...effects, ...spent, ...paid], undecoded: [] }
}

/** Drivers are given documents, and may pass on what is in them. */
function isSound({ spends, receivers }: CallMoves): boolean {
  const isText = (value: unknown) => typeof value === 'string'
  return (
    spends.every(
      ({ token, amount, to }) =>
        isText(token) && isText(to) && /^(0|[1-9][0-9]{0,77})$/.test(amount)
    ) && receivers.every(({ chain, address }) => isText(chain) && isText(address))
  )
}

/** A call of a write that no run could decode, whatever it is given; undefined: none is known. */
export function undecodable(execution: SimpleExecution): string | undefined {
  switch (execution.type) {
    case 'evm_call':
    case 'evm_multicall':
      return unknownEvm(execution)
    case 'solana_instruction':
      return unknownSolana(execution)
    default:
      return execution.type
  }
}
