import { testingError } from '../../core/index.js'

/** The library that generates and shrinks cases; optional, and loaded when it is first needed. */
export type FastCheck = typeof import('fast-check')

/** Throws `testing.fast_check_missing`. */
export async function loadFastCheck(): Promise<FastCheck> {
  try {
    return await import('fast-check')
  } catch (cause) {
    throw testingError('testing.fast_check_missing', {}, { cause })
  }
}
