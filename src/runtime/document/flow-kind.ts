import { anyFlowHost, type CompiledFlow, compilingFlow, isFlowDocument } from '../../agent/index.js'
import { type Diagnostic, reportedDiagnostics, reportingDiagnostics } from '../../block/index.js'
import type { Json, Locate, Pieces } from '../../core/index.js'
import type { DocumentKind, ParsedDocument } from './document-kind.js'

/** Flow documents as a kind; `compiling` knows the host's adapters, tools and node kinds. */
export function flowKind(compiling: (document: Json) => Pieces<CompiledFlow>): DocumentKind {
  return {
    name: 'agents-flow',
    matches: isFlowDocument,
    *pieces(document, { locate }) {
      return yield* parsedOf(yield* compiling(document), locate)
    }
  }
}

function* parsedOf(compiled: CompiledFlow, locate: Locate | undefined): Pieces<ParsedDocument> {
  const shown = (found: Findings) => reportingDiagnostics(found.map(diagnosticOf), locate)
  if (!compiled.ok) return { ok: false, diagnostics: yield* shown(compiled.findings) }
  const { definition, warnings, refused } = compiled
  const said = { definition, warnings: yield* shown(warnings) }
  if (refused.length === 0) return { ok: true, ...said }
  return { ok: true, ...said, refused: yield* shown(refused) }
}

/** Flows as documents by themselves, whatever their names lead to. */
export const anyFlowKind: DocumentKind = flowKind((document) =>
  compilingFlow(document, anyFlowHost)
)

export function diagnosticsOf(findings: Findings): readonly Diagnostic[] {
  return reportedDiagnostics(findings.map(diagnosticOf))
}

type Findings = (CompiledFlow & { readonly ok: false })['findings']

function diagnosticOf({ code, severity, path, message, more }: Findings[number]): Diagnostic {
  return {
    reason: severity === 'warning' ? 'lint' : 'invalid_graph',
    path,
    message: `${code}: ${message}`,
    ...(more === undefined ? {} : { more })
  }
}
