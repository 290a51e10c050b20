/** code: what the code of blocks and workflow functions is, is given, may ask for and gives. */

export {
  type AnswerToBlock,
  type Attribution,
  type Block,
  type BlockDefinition,
  defineBlock,
  defineIntentBlock,
  defineOwnBlock,
  type IntentPort,
  isBlock,
  type PinnedBlocks,
  type RecordedFailure,
  type RecordedProvider,
  type TypedBlock,
  touchingNothing
} from './block.js'
export { CallRun } from './call-run.js'
export type { CallRunInput, CallRunPort, IntentInput } from './call-run-input.js'
export {
  builtInEffects,
  type Call,
  CHILD_EFFECT,
  type ChildRequest,
  type EffectRequest,
  effectKey,
  PUBLISH_EFFECT,
  requestHashOf,
  runEffects,
  type SignalRequest,
  TAGS_EFFECT
} from './calls.js'
export {
  type CompensatingCall,
  type CompensatingEffect,
  type Compensation,
  compensationOf,
  isCompensatingCall,
  type LandedWrite
} from './compensation.js'
export {
  type BlockContext,
  BlockFailure,
  type BlockState,
  DeterminismViolation,
  type EffectCall,
  EffectFailure,
  type EffectOptions,
  type Located,
  type ReceiveSignal,
  type WaitAnswer,
  type WaitOptions
} from './context.js'
export type { Published } from './exchange.js'
export type {
  AnswerCommand,
  CodeCalledEvent,
  CodeReturnedEvent,
  FunctionCall
} from './function-call.js'
export { StepFailure } from './function-context.js'
export { CALLED_OUT_OF_TURN } from './given-turn.js'
export { LazySignal, type SignalSource } from './lazy-signal.js'
export {
  areObligations,
  type BlockObligation,
  type BoundObligations,
  type DeclaredObligation,
  declaredObligation,
  joinedObligation,
  lowest,
  type Obligations
} from './obligation.js'
export { failureResponse, inputTooLarge, type Outcome, saysAll, withoutThrown } from './outcome.js'
export { signalNamed } from './receiving.js'
export {
  exceeds,
  failedResponse,
  highest,
  type NodeOptions,
  type PlanTurn,
  type Request,
  type RequestMetadata,
  type Response,
  type RetryPolicyStep,
  ROOT_PATH,
  reasons,
  type SideEffectClass,
  sideEffectClasses
} from './request.js'
export type { TypedSchema } from './schema.js'
export { keysOver, StateView } from './state-view.js'
export type { FunctionStepOptions, StepConfirm, StepOptions, StepRetry } from './step-options.js'
export { tagsOf, tagsSet } from './tags.js'
export { installTripwire, watchBlocks } from './tripwire.js'
export type { StandardSchema, ValueSchema } from './value-schema.js'
export {
  defineWorkflow,
  type FunctionDefinition,
  functionBlock,
  functionSchemaName,
  isWorkflow,
  type Workflow,
  type WorkflowDefinition
} from './workflow.js'
export type { StepFunction, StepScope, WorkflowContext } from './workflow-context.js'
