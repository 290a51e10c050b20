import { ledgerError } from '../../core/index.js'
import type { ArchiveProgress } from '../../ledger/index.js'
import type { ArchiveOptions, ArchiveResult } from '../system/archive-options.js'
import type { ExportOptions, ExportProgress, ExportReport } from '../system/exporting.js'

interface Progress {
  readonly phase: string
  readonly done: number
  readonly total: number
}

/** Progress is told so often at most in each phase, however much there is to do. */
const STEPS = 100

/**
 * Does work, and says how far it is; the last event has its report. A reader that is slow gets
 * fewer events, and keeps none waiting.
 */
export async function* withProgress<Phase extends Progress, Report>(
  work: (onProgress: (progress: Phase) => void) => Promise<Report>
): AsyncGenerator<Phase | { readonly phase: 'done'; readonly report: Report }> {
  let last: Phase | undefined
  let shown: Phase | undefined
  let isOver = false
  let wake: () => void = () => undefined
  const end = () => {
    isOver = true
    wake()
  }
  const working = work((progress) => {
    last = progress
    if (isFurther(shown, progress)) wake()
  })
  working.then(end, end)
  while (!isOver) {
    if (last !== undefined && isFurther(shown, last)) {
      shown = last
      yield last
    } else {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  yield { phase: 'done', report: await working }
}

function isFurther(shown: Progress | undefined, { phase, done, total }: Progress): boolean {
  return shown?.phase !== phase || done - shown.done >= Math.max(1, total / STEPS)
}

/** The stream of an export. */
export function exportingBy(
  exports: (given: ExportOptions) => Promise<ExportReport>,
  asked: ExportOptions
) {
  return withProgress<ExportProgress, ExportReport>((onProgress) =>
    exports({ ...asked, onProgress })
  )
}

/** The stream of an archiving. Throws `ledger.read_only` where nothing can be archived. */
export function archivingBy(
  archive: ((given: ArchiveOptions) => Promise<ArchiveResult>) | undefined,
  asked: ArchiveOptions
) {
  if (archive === undefined) throw ledgerError('ledger.read_only', {})
  return withProgress<ArchiveProgress, ArchiveResult>((onProgress) =>
    archive({ ...asked, onProgress })
  )
}
