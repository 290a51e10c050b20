import { isTallyError, type TallyError } from '../../src/core/index.js'

/** The error of this library that something ends with; another one is thrown on. */
export async function tallyErrorOf(ending: Promise<unknown>): Promise<TallyError> {
  const thrown = await ending.then(
    () => new Error('nothing is found'),
    (error: unknown) => error
  )
  if (isTallyError(thrown)) return thrown
  throw thrown
}
