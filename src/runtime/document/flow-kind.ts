import { anyFlowHost, type CompiledFlow, compilingFlow, isFlowDocument } from '../../agent/index.js'
import { type Diagnostic, reportedDiagnostics } from '../../block/index.js'
import { atOnce, type Json, type Locate, type Pieces } from '../../core/index.js'
import type { DocumentKind, ParsedDocument } from './document-kind.js'

/** Flow documents as a kind; `compiling` knows the host's adapters, tools and node kinds. */
export function flowKind(compiling: (document: Json) => Pieces<CompiledFlow>): DocumentKind {
  return {
    name: 'agents-flow',
    matches: isFlowDocument,
    parse: (document, { locate }) => parsedOf(atOnce(compiling(document)), locate),
    *pieces(document, { locate }) {
      return parsedOf(yield* compiling(document), locate)
    }
  }
}

function parsedOf(compiled: CompiledFlow, locate: Locate | undefined): ParsedDocument {
  if (!compiled.ok) return { ok: false, diagnostics: diagnosticsOf(compiled.findings, locate) }
  const { definition, warnings, refused } = compiled
  const said = { definition, warnings: diagnosticsOf(warnings, locate) }
  if (refused.length === 0) return { ok: true, ...said }
  return { ok: true, ...said, refused: diagnosticsOf(refused, locate) }
}

/** Flows as documents by themselves, whatever their names lead to. */
export const anyFlowKind: DocumentKind = flowKind((document) =>
  compilingFlow(document, anyFlowHost)
)

export function diagnosticsOf(
  findings: (CompiledFlow & { readonly ok: false })['findings'],
  locate?: Locate
): readonly Diagnostic[] {
  const diagnostics = findings.map(({ code, severity, path, message }) => ({
    reason: severity === 'warning' ? ('lint' as const) : ('invalid_graph' as const),
    path,
    message: `${code}: ${message}`
  }))
  return reportedDiagnostics(diagnostics, locate)
}
