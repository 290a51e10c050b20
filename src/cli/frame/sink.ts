/** A stream that a command writes to. */
export interface Sink {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly rows?: number | undefined
  /** Of a terminal: its size has changed. */
  on?(event: 'resize', listener: () => void): unknown
  off?(event: 'resize', listener: () => void): unknown
  write(chunk: string, done?: () => void): boolean
}
