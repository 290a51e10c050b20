import type { Diagnostic } from '../../block/index.js'
import type { CompiledWorkflow, WorkflowParts } from '../../workflow/index.js'
import type { DocumentKind, ParsedDocument } from './document-kind.js'

/** Workflows of AIS as a kind; the host's parts know protocols, packs and the policy. */
export function workflowKind(parts: WorkflowParts): DocumentKind {
  return {
    name: 'ais-flow',
    matches: (document) => parts.matches(document),
    *pieces(document, options) {
      return parsedOf(yield* parts.compiling(document, options))
    }
  }
}

function parsedOf(compiled: CompiledWorkflow): ParsedDocument {
  const diagnostics = compiled.issues.map(diagnosticOf)
  if (!compiled.ok) {
    return { ok: false, diagnostics: diagnostics.filter(({ reason }) => reason !== 'lint') }
  }
  const { definition, used, checkInputs, ownersAlone } = compiled
  const said = { definition, used, warnings: diagnostics, checkInputs }
  // It names the blocks of workflows, as no other kind of document may.
  return { ok: true, ...said, refused: [], ownersAlone: ownersAlone.map(diagnosticOf) }
}

type Issue = CompiledWorkflow['issues'][number]

function diagnosticOf(issue: Issue): Diagnostic {
  const { code, severity, path, message, protocol, line, column, more } = issue
  return {
    reason: severity === 'error' ? 'invalid_graph' : 'lint',
    path,
    message: `${code}: ${protocol === undefined ? '' : `in ${protocol}, `}${message}`,
    ...(line === undefined || column === undefined ? {} : { line, column }),
    ...(more === undefined ? {} : { more })
  }
}
