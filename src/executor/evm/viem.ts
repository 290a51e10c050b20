import { executorError } from '../../core/index.js'

/** The parts of viem that are used: coding and signing; never its network clients. */
export type Viem = typeof import('viem/utils') & {
  readonly accounts: typeof import('viem/accounts')
  readonly serializeTransaction: typeof import('viem/utils').serializeTransaction
}

export type Hex = `0x${string}`

/** Loads viem, an optional peer. Throws `executor.missing_library` when it is not installed. */
export async function loadViem(): Promise<Viem> {
  try {
    const [utils, accounts] = await Promise.all([import('viem/utils'), import('viem/accounts')])
    return { ...utils, accounts }
  } catch (cause) {
    throw executorError('executor.missing_library', { library: 'viem' }, { cause })
  }
}
