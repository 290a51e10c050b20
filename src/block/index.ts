/**
 * block: the determinism boundary. Charts say what they want, the pump gets it, the journal keeps
 * it.
 */
export { leafMachine } from './chart/leaf-machine.js'
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
export { type Block, type BlockDefinition, defineBlock, type Parsed } from './define.js'
export { differing, type Finding, firstOf } from './finding.js'
export {
  type CompiledComposite,
  type CompiledDocument,
  type CompiledLeaf,
  type CompiledNode,
  type CompiledPlan,
  type CompileResult,
  compileComposite,
  compileDocument,
  compilePlan
} from './graph/compile.js'
export type { CompositeDefinition } from './graph/definition.js'
export type { Diagnostic, DocumentPath } from './graph/diagnostic.js'
export { drawChart, drawSource } from './graph/draw.js'
export { type ParsedComposite, parseComposite, schemaProblems } from './graph/parse.js'
export type { BlockRegistry, ConditionPredicate } from './graph/registry.js'
export type {
  Appended,
  EvidenceDraft,
  Journal,
  JournalItem,
  Position,
  SealedReference,
  UnitDraft
} from './journal.js'
export {
  type Attribution,
  defineKernelBlock,
  type KernelEffect,
  type KernelPort,
  type KernelWork,
  type PinnedBlocks,
  type RecordedProvider
} from './kernel.js'
export {
  type DocumentDefinition,
  isPlanDefinition,
  type PlanDefinition,
  type PlanNodeDefinition,
  type PlanNodeEnd,
  type PlanNodeResult,
  planSchemaName
} from './plan/definition.js'
export { drawGraph } from './plan/draw.js'
export { lintDocument } from './plan/lint.js'
export { validatePlan } from './plan/order.js'
export { type ParsedPlan, parsePlan } from './plan/parse.js'
export type { Request, Response, SideEffectClass, WaitAction } from './protocol.js'
export { ActorPool } from './pump/actor-pool.js'
export type { RecordedEntry } from './pump/book.js'
export { checkOnce, type OnceResult } from './pump/check-once.js'
export { loneUnitId, runUnitId } from './pump/ending.js'
export { type EndedWithoutCode, EndingWithoutCode } from './pump/ending-without-code.js'
export {
  chainJournal,
  type JournalEntry,
  type Pins,
  type RunFinished,
  type RunStarted
} from './pump/entries.js'
export { seedOf } from './pump/execution.js'
export { UnitGate } from './pump/gate.js'
export type { OpenWait, PumpHost, RunCheckpoint, RunEvent } from './pump/host.js'
export { type CompiledRootLeaf, leafRootOf } from './pump/leaf-root.js'
export type { Provider, UnfinishedJournals } from './pump/performing.js'
export { executeOnTape, type Reexecuted, type TapeEntry } from './pump/reexecute.js'
export { isFarAhead } from './pump/resting.js'
export { rootOf } from './pump/root.js'
export type { RootBlock } from './pump/root-block.js'
export type { RunEnd } from './pump/run-end.js'
export { RunPump } from './pump/run-pump.js'
export { goStraight, type LoneRun, type Straight } from './pump/straight.js'
export { Turns } from './pump/turns.js'
export { attributionOf } from './pump/unit.js'
export type { MessageOutcome, WaitMessage } from './pump/waits.js'
export type { Repair } from './recovery.js'
export type { Ground } from './replay/ground.js'
export { RunReplay } from './replay/run-replay.js'
export type { UndoPort } from './replay/undo-work.js'
export type { RecordedUnit, UnitAgain } from './replay/unit-work.js'
export { installTripwire } from './tripwire.js'
