import type { JsonObject } from '../../core/index.js'
import type { SimpleExecution } from '../document/execution.js'
import type { Measured } from './effect.js'
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
