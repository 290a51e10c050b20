import { type DocumentPath, type Locate, located, reported } from '../../../core/index.js'
import { failedResponse, type Response, reasons } from '../../protocol.js'

/** One thing wrong, or doubtful, in a composite document. */
export interface Diagnostic {
  /** Reason label of B5, or `lint` for a warning. */
  readonly reason:
    | 'invalid_graph'
    | 'unknown_node'
    | 'unknown_block'
    | 'condition_resolution_error'
    | 'lint'
  /** Keys from the root of the document. */
  readonly path: DocumentPath
  readonly message: string
  /** From 1; absent without the document's text. */
  readonly line?: number
  readonly column?: number
  /** In the last diagnostic of a report that leaves some out: how many. */
  readonly more?: number
}

export type { DocumentPath, Locate }

/** Diagnostics as a report shows them: not too many, errors first when there are. */
export function reportedDiagnostics(
  found: readonly Diagnostic[],
  locate?: Locate
): readonly Diagnostic[] {
  return reported(
    found.map((one) => located(one, locate)),
    {
      isError: ({ reason }) => reason !== 'lint',
      more: ({ more, message, hasErrors }) => ({
        reason: hasErrors ? 'invalid_graph' : 'lint',
        path: [],
        message,
        more
      })
    }
  )
}

/** The response of an invalid composite (B4): construction fails, nothing runs. */
export function invalidGraphResponse(diagnostics: readonly Diagnostic[]): Response {
  const reason = diagnostics[0]?.reason
  const label = reason === undefined || reason === 'lint' ? reasons.invalidGraph : reason
  return failedResponse(label === 'unknown_node' ? reasons.invalidGraph : label, {
    diagnostics: diagnostics.map(({ reason, path, message }) => ({ reason, path, message }))
  })
}
