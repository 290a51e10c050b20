/**
 * workflow: AIS documents, the plans they become, whether a node of a plan can run, and what a
 * policy lets it do. The parts of this page are pure: they do nothing outside.
 */
export {
  type DiagnosticAction,
  diagnosticIn,
  type NodeDiagnostic
} from './diagnostic/diagnostic.js'
export { bundled, bundleSchemaName, bundling } from './document/bundle.js'
export { type FlowDocument, flowSchemaNames, importsOf } from './document/flow.js'
export type { Issue, IssueCode } from './document/issue.js'
export { aisJsonSchemas } from './document/json-schema.js'
export { type PackDocument, packSchemaName } from './document/pack.js'
export {
  type DocumentSource,
  type ParsedDocument,
  parseFlow,
  parsePack,
  parseProtocol
} from './document/parse.js'
export { planDocumentNames, planSkeletonName } from './document/plan-document.js'
export { type ProtocolDocument, protocolKey, protocolSchemaName } from './document/protocol.js'
export type { AisValue } from './document/value.js'
export type { ReadJournal } from './engine/budget.js'
export {
  diagnosticsIn,
  type NodeTrouble,
  type RunDocuments,
  reorgDiagnostic,
  troublesOf
} from './engine/diagnose.js'
export {
  type DryCheck,
  type DryLook,
  type DryPreflightOptions,
  dryPreflight
} from './engine/dry-preflight.js'
export { type DryNode, type DryRun, dryRun } from './engine/dry-run.js'
export { TIME_EFFECT } from './engine/gather.js'
export { type NodeSpec, readSpec } from './engine/node-spec.js'
export type { MissingThing } from './engine/preflight.js'
export { EXECUTION_EFFECT } from './engine/sealed-write.js'
export {
  answerTexts,
  earlierAnswer,
  type GivenAnswer,
  givenAnswers,
  sharedAnswer
} from './engine/share.js'
export { givenOf } from './engine/spec.js'
export { engineCheckpoint, engineCheckpointSchema } from './export/checkpoint.js'
export {
  type EngineEvent,
  type EngineEventRecord,
  type EngineEventType,
  engineEventSchema,
  engineEvents
} from './export/events.js'
export { type CompiledWorkflow, type WorkflowHost, WorkflowParts } from './host.js'
export { checkAisDocument, isAisDocument, protocolsNeeded } from './lint/check.js'
export { lintFlow } from './lint/lint.js'
export { drawPlanMermaid, drawPlanText } from './plan/draw.js'
export { exportPlan } from './plan/export-plan.js'
export type { AisPlan, AisPlanNode } from './plan/plan.js'
export { type PlanOptions, type PlanResult, planFlow, planText } from './plan/planner.js'
export { policyVerdict, type Verdict } from './policy/gate.js'
export {
  defaultPolicy,
  type Policy,
  policyHash,
  tightened,
  underFlow,
  unfitPacks
} from './policy/policy.js'
export {
  applyPatches,
  type PatchAudit,
  parsePatches,
  type RuntimePatch
} from './readiness/patch.js'
export { nodeReadiness, type Readiness } from './readiness/readiness.js'
export { type AisRuntime, prepareRuntime, type RuntimeGiven } from './readiness/runtime.js'
export { defaultSolver, type MissingRequest } from './readiness/solver.js'
export { type AisType, parseType } from './type/type.js'
export { valuesFor } from './value/plain.js'
