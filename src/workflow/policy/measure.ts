import type { JsonObject } from '../../core/index.js'
import type { Measured } from './effect.js'
import { measureEvm } from './measure-evm.js'

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
    default:
      return { effects: [], undecoded: [`${execution.type} on ${chain}`] }
  }
}
