import type { Diagnostic, DocumentDefinition } from '../../block/index.js'
import type { Json, Locate, Pieces } from '../../core/index.js'

/** What a document becomes: a definition that a run can have for its root. */
export type ParsedDocument =
  | {
      readonly ok: true
      readonly definition: DocumentDefinition
      /** The same for where another document uses it, if that is not the same. */
      readonly used?: () => DocumentDefinition
      /** What is doubtful, with the reason `lint`. */
      readonly warnings?: readonly Diagnostic[]
      /** What it chooses and the host does not allow: no run of it begins (K15). */
      readonly refused?: readonly Diagnostic[]
      /** What only the owner may say in a document: no run of another begins with it (K15). */
      readonly ownersAlone?: readonly Diagnostic[]
      /** What is wrong with inputs, found before a run begins; absent: any may be given. */
      readonly checkInputs?: CheckInputs
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/** Problems of what a run is to be started with, by input. Pure. */
export type CheckInputs = (
  inputs: Json
) => readonly { readonly name: string; readonly problem: string }[]

/**
 * One kind of document. To compile and run, to resume, to verify and to draw a document only its
 * definition is needed: whatever a kind adds, it says in the terms of composites and plans.
 */
export interface DocumentKind {
  /** The value of the document's `schema`, as a rule. */
  readonly name: string
  matches(document: Json): boolean
  /**
   * Reads a document in pieces: other work may be done between two. Never throws for a bad one.
   * Without text there is no `locate`.
   */
  pieces(document: Json, options: { readonly locate?: Locate }): Pieces<ParsedDocument>
}
