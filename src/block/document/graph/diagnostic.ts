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
}

export type DocumentPath = readonly (string | number)[]

/** Finds a path in the document's text, as `locate` of core does. */
export type Locate = (path: DocumentPath) => { readonly line: number; readonly column: number }

/** The response of an invalid composite (B4): construction fails, nothing runs. */
export function invalidGraphResponse(diagnostics: readonly Diagnostic[]): Response {
  const reason = diagnostics[0]?.reason
  const label = reason === undefined || reason === 'lint' ? reasons.invalidGraph : reason
  return failedResponse(label === 'unknown_node' ? reasons.invalidGraph : label, {
    diagnostics: diagnostics.map(({ reason, path, message }) => ({ reason, path, message }))
  })
}

export function located(diagnostic: Diagnostic, locate: Locate | undefined): Diagnostic {
  if (locate === undefined) return diagnostic
  const { line, column } = locate(diagnostic.path)
  return { ...diagnostic, line, column }
}
