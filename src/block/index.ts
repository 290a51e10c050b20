/**
 * block: the determinism boundary. Charts say what they want, the pump gets it, the journal keeps
 * it.
 */

export type { Parsed } from './block-code.js'
export { leafMachine } from './chart/leaf-machine.js'
export { checkOnce, type OnceResult } from './code/check-once.js'
export { executeOnRecordedResults, type Reexecuted, type TapeEntry } from './code/reexecute.js'
export type { CompensatingEffect, Compensation, LandedWrite } from './compensation.js'
export {
  type BlockContext,
  BlockFailure,
  type BlockState,
  DeterminismViolation,
  type EffectCall,
  EffectFailure,
  type EffectOptions,
  type Located,
  type WaitAnswer,
  type WaitOptions
} from './context.js'
export { type Block, type BlockDefinition, defineBlock, touchingNothing } from './define.js'
export { defineIntentBlock } from './define-intent-block.js'
export { compileComposite, compileDocument, compilePlan } from './document/graph/compile.js'
export type {
  CompiledComposite,
  CompiledDocument,
  CompiledLeaf,
  CompiledNode,
  CompiledPlanGraph,
  CompileResult
} from './document/graph/compiled.js'
export type { CompositeDefinition } from './document/graph/definition.js'
export type { Diagnostic, DocumentPath } from './document/graph/diagnostic.js'
export { drawChart, drawSource } from './document/graph/draw.js'
export { type ParsedComposite, parseComposite, schemaProblems } from './document/graph/parse.js'
export type { BlockRegistry, ConditionPredicate } from './document/graph/registry.js'
export { type CompiledRootLeaf, leafRootOf } from './document/leaf-root.js'
export {
  type DocumentDefinition,
  isPlanDefinition,
  type PlanDefinition,
  type PlanNodeDefinition,
  type PlanNodeEnd,
  type PlanNodeResult,
  planSchemaName
} from './document/plan/definition.js'
export { drawGraph } from './document/plan/draw.js'
export { lintDocument } from './document/plan/lint.js'
export { validatePlan } from './document/plan/order.js'
export { type ParsedPlan, parsePlan } from './document/plan/parse.js'
export { rootOf } from './document/root.js'
export { differing, type Finding, firstOf } from './finding.js'
export type {
  Attribution,
  IntentEffect,
  IntentPort,
  KernelWork,
  PinnedBlocks,
  RecordedProvider
} from './intent-port.js'
export type {
  Appended,
  EvidenceDraft,
  Journal,
  JournalItem,
  Position,
  SealedReference,
  UnitDraft
} from './journal.js'
export type { Request, Response, SideEffectClass, WaitAction } from './protocol.js'
export { type EndedWithoutCode, EndingWithoutCode } from './pump/ending-without-code.js'
export { UnitGate } from './pump/gate.js'
export type { AskedEffect, PumpHost, RunEnd, RunEvent } from './pump/host.js'
export { type InlineOutcome, runInline, type SingleStepRun } from './pump/inline-run.js'
export type { RecordedEntry } from './pump/journal-writer.js'
export type { Provider, UnfinishedJournals } from './pump/performing.js'
export { ActorPool } from './pump/run-actors.js'
export { RunPump } from './pump/run-pump.js'
export { isFarAhead, Turns } from './pump/turns.js'
export type { Ground } from './replay/ground.js'
export type { CompensationPort, RecordedUnit, UnitAgain } from './replay/redo.js'
export { RunReplay } from './replay/run-replay.js'
export type { Repair } from './retry-policy.js'
export type { RunCheckpoint } from './run/checkpoint.js'
export {
  chainJournal,
  type JournalEntry,
  type OpenWait,
  type Pins,
  type RunFinished,
  type RunStarted
} from './run/entries.js'
export type { RootBlock } from './run/root-block.js'
export { attributionOf } from './run/unit.js'
export { runUnitId, seedOf, singleStepUnitId } from './run/unit-ids.js'
export type { MessageOutcome, WaitMessage } from './run/waits.js'
export { installTripwire } from './tripwire.js'
