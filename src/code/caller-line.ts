/** Frames of this library's own code, which stands between the caller and the call. */
const own = /[\\/]src[\\/]code[\\/](function-context|caller-line|call-run)\.[jt]s/

/**
 * Where code of a program calls this library, as `file:line:column`; undefined where engines do not
 * tell. Dear: for messages only.
 */
export function callerLine(): string | undefined {
  const { stack = '' } = new Error('where')
  for (const frame of stack.split('\n').slice(1)) {
    const place = /(?:file:\/\/)?((?:[A-Za-z]:)?[^\s():]+:\d+:\d+)\)?$/.exec(frame.trim())?.[1]
    if (place !== undefined && !own.test(place)) return place
  }
  return undefined
}
