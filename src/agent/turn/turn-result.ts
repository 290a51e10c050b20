import { isJsonObject, type Json, type JsonObject, shownText } from '../../core/index.js'
import type { ToolCall, TurnResult } from '../adapters/adapter.js'
import type { SealedTurn } from '../adapters/agent-turns.js'
import { TurnFailed } from './failure.js'

/** A member's check, and whether it may be left out. Plain code: every turn of a replay runs it. */
type Check = readonly [fits: (value: Json) => boolean, isOptional?: true]
type Checks = Readonly<Record<string, Check>>

const isText = (value: Json) => typeof value === 'string'
const isCount = (value: Json) => Number.isSafeInteger(value) && Number(value) >= 0
const isAny = () => true
const isOneOf = (values: readonly string[]) => (value: Json) => values.includes(shownText(value))
const isListOf = (fits: (value: Json) => boolean) => (value: Json) =>
  Array.isArray(value) && value.every(fits)

const usageChecks: Checks = {
  inputTokens: [isCount],
  outputTokens: [isCount],
  totalTokens: [isCount],
  costUsd: [isText, true],
  isUpperBound: [(value) => value === true, true]
}

const brokenChecks: Checks = { inputTokens: [isCount], outputTokens: [isCount], turns: [isCount] }

const callChecks: Checks = { id: [isText], name: [isText], arguments: [isAny] }

const errorChecks: Checks = {
  code: [isText],
  message: [isText],
  category: [isOneOf(['adapter', 'model', 'tool', 'budget', 'platform', 'unknown'])],
  retryable: [(value) => typeof value === 'boolean']
}

const resultChecks: Checks = {
  status: [isOneOf(['completed', 'failed', 'aborted'])],
  finalText: [isText],
  reasoningText: [isText, true],
  structuredOutput: [isAny, true],
  toolCalls: [isListOf((call) => wrongMember(call, callChecks) === undefined)],
  usage: [(usage) => wrongMember(usage, usageChecks) === undefined],
  model: [isText],
  warnings: [isListOf(isText)],
  error: [(error) => wrongMember(error, errorChecks) === undefined, true],
  session: [(session) => isText(session) && session !== '', true],
  workMs: [isCount, true],
  broken: [(broken) => wrongMember(broken, brokenChecks) === undefined, true]
}

/** A result with what its provider has measured. */
export type AnsweredTurn = TurnResult & Pick<SealedTurn, 'workMs' | 'broken'>

/** A sealed answer, checked: any adapter may have given it. */
export function checkedResult(answer: Json): AnsweredTurn {
  const wrong = wrongMember(answer, resultChecks)
  if (wrong !== undefined) {
    throw new TurnFailed('turn_failed', { error: { code: 'invalid_result', message: wrong } })
  }
  const result = answer as unknown as AnsweredTurn
  // The calls go into the next request: nothing else of them may.
  return { ...result, toolCalls: result.toolCalls.map(bareCall) }
}

function bareCall({ id, name, arguments: given }: ToolCall): ToolCall {
  return { id, name, arguments: given }
}

/** The first member that is not as it should be, as text. */
function wrongMember(value: Json, checks: Checks): string | undefined {
  if (!isJsonObject(value)) return 'it is no object'
  for (const name in checks) {
    if (isWrong(value, name, checks[name])) return `${name}: invalid`
  }
  return undefined
}

function isWrong(value: JsonObject, name: string, check: Check | undefined): boolean {
  const member = Object.hasOwn(value, name) ? value[name] : undefined
  if (check === undefined) return false
  const [fits, isOptional] = check
  return member === undefined ? isOptional !== true : !fits(member)
}
