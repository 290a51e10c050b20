import { anyFlowHost, type CompiledFlow, compileFlow, isFlowDocument } from '../../agent/index.js'
import { type Diagnostic, reportedDiagnostics } from '../../block/index.js'
import type { Json, Locate } from '../../core/index.js'
import type { DocumentKind } from './document-kind.js'

/** Flow documents as a kind; `compile` knows the host's adapters, tools and node kinds. */
export function flowKind(compile: (document: Json) => CompiledFlow): DocumentKind {
  return {
    name: 'agents-flow',
    matches: isFlowDocument,
    parse: (document, { locate }) => {
      const compiled = compile(document)
      if (!compiled.ok) return { ok: false, diagnostics: diagnosticsOf(compiled.findings, locate) }
      const { definition, warnings, refused } = compiled
      const said = { definition, warnings: diagnosticsOf(warnings, locate) }
      if (refused.length === 0) return { ok: true, ...said }
      return { ok: true, ...said, refused: diagnosticsOf(refused, locate) }
    }
  }
}

/** Flows as documents by themselves, whatever their names lead to. */
export const anyFlowKind: DocumentKind = flowKind((document) => compileFlow(document, anyFlowHost))

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
