/**
 * expression: values of documents (`lit`, `ref`, `cel`, `object`, `array`), conditions, and the CEL
 * profile `tally-cel/1`. Pure and synchronous (D1); failures of evaluation are data. The CEL engine
 * is loaded on demand and nothing outside this room knows which one it is.
 */
export { AMOUNT_MAX, isAmountText, TOKEN_DECIMALS_MAX, toAtomic, toHuman } from './amount.js'
export { type CompiledCondition, compileCondition } from './condition.js'
export {
  AIS_PROFILE,
  type CompiledExpression,
  EXPRESSION_PROFILE,
  type ExpressionEngine,
  type ExpressionOptions,
  type ExpressionProfile
} from './engine.js'
export {
  type Expressions,
  expressionsOn,
  type LoadedExpressions,
  loadExpressions
} from './expressions.js'
export type { AmountPaths, EvaluationFailure, EvaluationResult, FailureCode } from './failure.js'
export { lookUp, parseReference, type Reference, referenceText } from './reference.js'
export { type CompiledValue, compileValue, compilingValue, usesCel, type Value } from './value.js'
