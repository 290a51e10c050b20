import { TallyError } from '../../core/index.js'

/** What codes and recovers here, as it does in the executor under test: viem's own functions. */
export type Viem = typeof import('viem/utils')

export type Hex = `0x${string}`

/** Loads viem, an optional peer. Throws `executor.missing_library` when it is not installed. */
export async function loadViem(): Promise<Viem> {
  try {
    return await import('viem/utils')
  } catch (cause) {
    throw new TallyError('executor.missing_library', { library: 'viem' }, { cause })
  }
}
