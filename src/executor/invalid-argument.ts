/** A value of an execution that does not fit where it stands; `path` leads to it. */
export class InvalidArgument extends Error {
  override readonly name = 'InvalidArgument'

  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`)
  }
}
