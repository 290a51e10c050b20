import type {
  CompiledDocument,
  CompiledFunction,
  CompiledRootLeaf,
  Diagnostic,
  DocumentDefinition,
  Pins,
  RootBlock
} from '../../block/index.js'
import type { Block, FunctionDefinition, Obligations } from '../../code/index.js'
import type { IntentDefinition } from '../../intent/index.js'
import type { BlockQueue } from '../../queue/index.js'
import type { CheckInputs } from '../document/document-kind.js'
import type { ReachedCode } from './reached-code.js'

/** What `run.started` keeps of a run. */
export type RunDefinition = DocumentDefinition | IntentDefinition | FunctionDefinition

/** What a run has pinned when it began. */
export interface PinnedTerms {
  readonly pins?: Pins | undefined
  readonly obligations?: Obligations | undefined
}

/** The definition of a run, compiled again; that of a single-step run is no document. */
export type PreparedRun = Prepared | PreparedStep | PreparedFunction

/** A single-step run's root, and where its names lead. */
export interface PreparedStep {
  readonly ok: true
  readonly root: RootBlock
  readonly compiled: CompiledRootLeaf
  readonly block: BlockLookup
}

/** A workflow function that a run can have for its root (B12). */
export interface PreparedFunction {
  readonly ok: true
  readonly root: RootBlock
  readonly compiled: CompiledFunction
  readonly block: BlockLookup
  readonly reached: () => ReachedCode
  readonly checkInputs: CheckInputs
  /** Where its runs wait for their turn. */
  readonly queue?: BlockQueue
}

/** What a run can have for its root, compiled. */
export type CompiledRoot = CompiledDocument | CompiledRootLeaf | CompiledFunction

/** What a run may begin with. */
export type Compiled = PreparedRun & { readonly ok: true }

/** Where the names of a run lead while it continues. */
export type BlockLookup = (reference: string) => Block | undefined

export type Prepared =
  | {
      readonly ok: true
      readonly root: RootBlock
      readonly compiled: CompiledDocument
      readonly block: BlockLookup
      readonly definition: DocumentDefinition
      readonly reached: () => ReachedCode
      /** What is doubtful in the document, beside what `lintDocument` finds. */
      readonly warnings: readonly Diagnostic[]
      readonly checkInputs?: CheckInputs
      /** What only the owner may say in it; absent where the owner has published it. */
      readonly ownersAlone?: () => readonly Diagnostic[]
    }
  | NotPrepared

export interface NotPrepared {
  readonly ok: false
  readonly diagnostics: readonly Diagnostic[]
  /** Of a document that was read, and does not compile with what is registered. */
  readonly definition?: DocumentDefinition
  /** What it names and is not registered, as `name@version` where the version is known. */
  readonly missing?: readonly string[]
}
