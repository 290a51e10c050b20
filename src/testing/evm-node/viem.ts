import { executorError } from '../../core/index.js'

export type Viem = typeof import('viem/utils')

export type Hex = `0x${string}`

/**
 * Loads viem, an optional peer, by this folder's own import: through the executors' door its types
 * would reach everybody who imports the library. Throws `executor.missing_library`.
 */
export async function loadViem(): Promise<Viem> {
  try {
    return await import('viem/utils')
  } catch (cause) {
    throw executorError('executor.missing_library', { library: 'viem' }, { cause })
  }
}
