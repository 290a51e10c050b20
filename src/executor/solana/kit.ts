import { executorError } from '../../core/index.js'

/** The parts of kit that are used: coding and signing; never its network clients. */
export type Kit = typeof import('@solana/kit')

/** Loads kit, an optional peer. Throws `executor.missing_library` when it is not installed. */
export async function loadKit(): Promise<Kit> {
  try {
    return await import('@solana/kit')
  } catch (cause) {
    throw executorError('executor.missing_library', { library: '@solana/kit' }, { cause })
  }
}
