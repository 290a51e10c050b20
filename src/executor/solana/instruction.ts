import { InvalidArgument } from '../invalid-argument.js'
import type { Execution } from '../port.js'
import { pubkeyOf } from './addresses.js'
import { parseExecution, type SolanaWrite } from './execution.js'
import { addressBytes, discriminatorBytes, layoutBytes } from './layout.js'

/** One instruction with everything derived and encoded. */
export interface BuiltInstruction {
  readonly program: string
  readonly accounts: readonly {
    readonly pubkey: string
    readonly signer: boolean
    readonly writable: boolean
  }[]
  readonly data: Uint8Array
}

/** Encodes an execution's instruction. Throws `InvalidArgument`. */
export function buildInstruction(write: SolanaWrite): BuiltInstruction {
  const { program, accounts, data, discriminator, instruction } = write
  addressBytes(program, 'program')
  const front = discriminatorBytes({
    instruction,
    ...(discriminator === undefined ? {} : { discriminator })
  })
  return {
    program,
    accounts: accounts.map(({ pubkey, signer, writable }, index) => ({
      pubkey: pubkeyOf(pubkey, `accounts.${index}.pubkey`),
      signer,
      writable
    })),
    data: Uint8Array.from(Buffer.concat([front, layoutBytes(data, 'data')]))
  }
}

/** The instruction that an execution sends, without a library; undefined: it sends none. */
export function plainInstruction(execution: Execution): BuiltInstruction | undefined {
  const parsed = parseExecution(execution)
  if (!parsed.ok || parsed.value.type !== 'solana_instruction') return undefined
  try {
    return buildInstruction(parsed.value)
  } catch (error) {
    if (error instanceof InvalidArgument) return undefined
    throw error
  }
}
