import { EffectFailure } from '../../../block/index.js'

/**
 * What comes before a request is sent, such as looking up a name, cannot be broken off: when it is
 * late it is left to itself, and the request ends as `timed_out` with nothing sent.
 */
export function unlessLate<Value>(late: AbortSignal, work: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(new EffectFailure('timed_out', { definite: true }))
    if (late.aborted) leave()
    late.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject)
  })
}
