/** A reader or decoder of bytes from outside, as a fuzz run drives it. */
export interface FuzzTarget {
  /** What it drives, as `path#name`; a test holds the list against the sources. */
  readonly readers: readonly string[]
  /** Reads the input. What it throws must be a `TallyError`, or what {@link expects} names. */
  read(input: Buffer): unknown
  /** What was read, written again: the input's text or, for bytes, its bytes. */
  write?(value: never): string | Uint8Array | undefined
  /** Errors that belong to the reader's contract besides `TallyError`. */
  expects?(error: unknown): boolean
  /** Each case takes milliseconds: a run has fewer of them. */
  readonly isSlow?: boolean
}
