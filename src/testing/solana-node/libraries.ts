import { executorError } from '../../core/index.js'

export interface SolanaLibraries {
  readonly kit: typeof import('@solana/kit')
  readonly litesvm: typeof import('litesvm')
}

/** Loads both, which are optional peers. Throws `executor.missing_library`. */
export async function loadSolanaLibraries(): Promise<SolanaLibraries> {
  const kit = await loaded('@solana/kit', () => import('@solana/kit'))
  // A native addon, for which some platforms have no build.
  const litesvm = await loaded('litesvm', () => import('litesvm'))
  return { kit, litesvm }
}

async function loaded<Library>(library: string, load: () => Promise<Library>): Promise<Library> {
  try {
    return await load()
  } catch (cause) {
    throw executorError('executor.missing_library', { library }, { cause })
  }
}
