/** Work that may be interrupted wherever it yields. */
export type Pieces<Result> = Generator<undefined, Result, undefined>

/** Does all of the work at once. */
export function atOnce<Result>(pieces: Pieces<Result>): Result {
  for (;;) {
    const { done, value } = pieces.next()
    if (done === true) return value
  }
}
