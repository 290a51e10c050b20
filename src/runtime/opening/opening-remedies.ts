/** What `recover` does only when asked to, because something is lost by it. */
export type RepairConsent = 'cut' | 'acceptLock' | 'acknowledgeNotes' | 'removePackages'

/** Why a ledger is in safe mode, or would be if it were opened. */
export interface OpeningCause {
  readonly code: string
  readonly message: string
}

/** How a cause of safe mode ends. */
export interface Remedy {
  /** What `recover` does about it. */
  readonly does: string
  /** What is lost by that; null for nothing. */
  readonly loses: string | null
  /** What `recover` has to be given; null where it needs nothing, or can do nothing. */
  readonly consent: RepairConsent | null
  /** False where no recovery leads out of it. */
  readonly isRecoverable: boolean
  readonly fix: string
}

export type RemediedCause = OpeningCause & Remedy

/** Options of `tally recover`, by what they consent to. */
export const consentFlags: Readonly<Record<RepairConsent, string>> = {
  cut: '--cut',
  acceptLock: '--accept-lock',
  acknowledgeNotes: '--acknowledge-notes',
  removePackages: '--remove-packages'
}

/** A cause of safe mode with what `recover` does about it, and what that costs. */
export function remedied({ code, message }: OpeningCause): RemediedCause {
  return { code, message, ...remedyOf(code) }
}

function remedyOf(code: string): Remedy {
  switch (code) {
    case 'runtime.newer_versions':
      return {
        does: 'nothing is changed: a newer program is needed',
        loses: null,
        consent: null,
        isRecoverable: false,
        fix: 'Use the version of tallystick that was used last, or a later one.'
      }
    case 'runtime.integrity_lock':
      return consented('acceptLock', {
        does: 'the whole ledger is verified, and the next opening writes the lock anew',
        loses: 'the evidence that this is the ledger that was closed last'
      })
    case 'runtime.rolled_back':
      return consented('acknowledgeNotes', {
        does: 'the whole ledger is verified, and the next opening writes the lock anew',
        loses: 'the receipts that are missing, unless the newer data is put back first'
      })
    case 'capability.malformed_package':
      return consented('removePackages', {
        does: 'the stored bytes are removed; install the package again; its grants stay',
        loses: 'those bytes'
      })
    case 'run.journal_forged':
      return consented('cut', {
        does:
          'what stands before the first entry that this ledger has not written becomes a new ' +
          'data directory, and the old one is kept',
        loses: 'that run from there on, and every receipt and run after that entry'
      })
    default:
      return consented('cut', {
        does:
          'the longest prefix that verifies becomes a new data directory, and the old one is ' +
          'kept; where only indexes are wrong, they are made again instead',
        loses: 'every receipt after the first failure that "tally verify" names'
      })
  }
}

function consented(
  consent: RepairConsent,
  { does, loses }: { readonly does: string; readonly loses: string }
): Remedy {
  const fix = `Run "tally recover ${consentFlags[consent]}": ${does}. Lost: ${loses}.`
  return { does, loses, consent, isRecoverable: true, fix }
}
