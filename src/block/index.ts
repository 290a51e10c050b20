/**
 * block: the determinism boundary. Charts say what they want, the pump gets it, the journal keeps
 * it.
 */

export type { CompileExpressions } from './chart/expressions.js'
export { emptyRequest } from './chart/parent.js'
export type { PlanNodeEnd, PlanNodeResult } from './chart/plan-results.js'
export type { AttemptCommand, BlockReport, CompositeEvent, WaitAction } from './chart/protocol.js'
export type { BlockStands } from './chart/pump-port.js'
export type { Repair } from './chart/retry-policy.js'

export {
  compileComposite,
  compileDocument,
  compilePlan,
  compilingDocument
} from './document/compile.js'
export { compileFunction, functionHash } from './document/compile-function.js'
export type {
  CompiledComposite,
  CompiledDocument,
  CompiledFunction,
  CompiledLeaf,
  CompiledNode,
  CompiledPlanGraph,
  CompiledWithChildren,
  CompileResult
} from './document/compiled.js'
export {
  type CompositeDefinition,
  type Diagnostic,
  type DocumentDefinition,
  type DocumentPath,
  type GraphDefinition,
  isPlanDefinition,
  type NodeDefinition,
  type PlanDefinition,
  type PlanNodeDefinition,
  Problems,
  planSchemaName,
  reportedDiagnostics,
  reportingDiagnostics
} from './document/definition.js'
export { drawChart, drawGraph, drawSource, mermaidId } from './document/draw.js'
export { lintDocument, lintingDocument } from './document/lint.js'
export {
  type ParsedComposite,
  type ParsedPlan,
  parseComposite,
  parsePlan,
  parsingComposite,
  parsingPlan,
  refusing,
  schemaProblems
} from './document/parse.js'
export type { BlockRegistry, ConditionPredicate } from './document/registry.js'
export { type CompiledRootLeaf, functionRootOf, leafRootOf, rootOf } from './document/root.js'
export { approversIn, approversSchema } from './document/schema.js'
export { problemsOf, validatingPlan } from './document/validate.js'
export { type EndedWithoutCode, EndingWithoutCode } from './pump/ending-without-code.js'
export { UnitGate } from './pump/gate.js'
export {
  type AskedEffect,
  isFarAhead,
  type OutsideCall,
  type Performer,
  type PumpHost,
  type RunEnd,
  Turns
} from './pump/host.js'
export { type InlineOutcome, runInline, type SingleStepRun } from './pump/inline-run.js'
export type {
  DoneAtOnce,
  RunMoments,
  RunObserver,
  SentEffect,
  StepPlace,
  TakenEntry
} from './pump/observer.js'
export { ActorPool } from './pump/run-actors.js'
export { RunPump } from './pump/run-pump.js'

export type { RecordedEntry } from './recovery/recovery.js'
export { differing, type Finding, firstOf } from './replay/finding.js'
export type { FoldObserver, MadeBlock } from './replay/fold.js'
export type { CompensationPort, Ground, RecordedUnit, UnitAgain } from './replay/redo.js'
export {
  checkOnce,
  executeOnRecordedResults,
  type OnceResult,
  type Reexecuted,
  type SealedAnswer
} from './replay/reexecute.js'
export { RunReplay, type RunReplayOptions } from './replay/run-replay.js'
export type { RunCheckpoint } from './run/checkpoint.js'
export { startedDraft } from './run/drafts.js'
export {
  type AttemptKey,
  type JournalEntry,
  type OpenWait,
  type Pins,
  placeKey,
  type RunFinished,
  type RunStarted
} from './run/entries.js'
export type { RunEvent, ThrownAt } from './run/events.js'
export type {
  Appended,
  EvidenceDraft,
  Journal,
  JournalItem,
  Position,
  SealedReference,
  UnitDraft
} from './run/journal.js'
export type { Provider, UnfinishedJournals } from './run/provider.js'
export type { RootBlock } from './run/root-block.js'
export {
  hashOfSignal,
  isForSignal,
  type SentSignal,
  type SignalOutcome,
  type WaitingSignal
} from './run/signals.js'
export { attributionOf, runUnitId, seedOf, singleStepUnitId, unitIdOf } from './run/unit.js'
export type { MessageOutcome, WaitMessage } from './run/waits.js'
export { type WriteOutside, WritesOutside } from './run/writes-outside.js'
