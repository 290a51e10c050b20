import { EffectFailure } from '../../../code/index.js'

/**
 * What comes before a request is sent, such as looking up a name, cannot be broken off: when it is
 * late it is left to itself, and the request ends as `timed_out` with nothing sent.
 */
export async function unlessLate<Value>(late: AbortSignal, work: Promise<Value>): Promise<Value> {
  let leave: () => void = () => undefined
  const isLate = new Promise<never>((_, reject) => {
    leave = () => reject(new EffectFailure('timed_out', { definite: true }))
    if (late.aborted) leave()
    else late.addEventListener('abort', leave, { once: true })
  })
  try {
    return await Promise.race([isLate, work])
  } finally {
    // A request that is redirected comes here for each hop, with one signal for all.
    late.removeEventListener('abort', leave)
  }
}
