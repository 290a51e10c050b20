import { type ExitCode, exitCodes } from './exit-codes.js'

export interface Interruption {
  /** Undefined until a signal came. */
  readonly exitCode: ExitCode | undefined
  /** Back to what signals do otherwise. */
  release(): void
}

const signals = { SIGINT: exitCodes.interrupted, SIGTERM: exitCodes.terminated } as const

/** Calls `park` at the first Ctrl-C (or SIGTERM); the second ends the process at once. */
export function onInterrupt(park: () => Promise<void>): Interruption {
  let exitCode: ExitCode | undefined
  const listeners = Object.entries(signals).map(([signal, code]) => {
    // Node names the signal; without a name it is `endUnread`.
    const listener = (named?: string) => {
      if (exitCode !== undefined) process.exit(code)
      exitCode = named === undefined ? exitCodes.unread : code
      // What cannot be parked is in the journal all the same.
      park().catch(() => process.exit(code))
    }
    process.on(signal, listener)
    return () => process.off(signal, listener)
  })
  return {
    get exitCode() {
      return exitCode
    },
    release: () => {
      for (const stop of listeners) stop()
    }
  }
}
