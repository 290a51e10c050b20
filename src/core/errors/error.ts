import { types } from 'node:util'
import { agentCodes } from './codes/agent.js'
import { auditCodes } from './codes/audit.js'
import { blockCodes } from './codes/block.js'
import { capabilityCodes } from './codes/capability.js'
import { cliCodes } from './codes/cli.js'
import { coreCodes } from './codes/core.js'
import { executorCodes } from './codes/executor.js'
import { expressionCodes } from './codes/expression.js'
import { identityCodes } from './codes/identity.js'
import { inspectCodes } from './codes/inspect.js'
import { intentCodes } from './codes/intent.js'
import { ledgerCodes } from './codes/ledger.js'
import { runtimeCodes } from './codes/runtime.js'
import { testingCodes } from './codes/testing.js'
import { workflowCodes } from './codes/workflow.js'
import type { CodeTexts, Texts } from './texts.js'

/**
 * Every error code with its message and its fix, one file of `codes/` per room. Codes are stable:
 * never renamed, never reused.
 * `{name}` is a placeholder; the context type of a code is read off its placeholders.
 * `docs/errors.md` is generated from this table (`npm run docs`). What throws takes the tables one
 * by one, so that a bundle can leave this one out.
 *
 * Naming: `room.problem`. `invalid_` = well-formed but not allowed, `malformed_` = cannot be read,
 * `_mismatch` = two things that must agree do not, `_exceeded` = over a limit of `core/limits.ts`.
 */
export const errorCatalogue = /* @__PURE__ */ (() => ({
  ...coreCodes,
  ...identityCodes,
  ...expressionCodes,
  ...ledgerCodes,
  ...blockCodes,
  ...capabilityCodes,
  ...intentCodes,
  ...executorCodes,
  ...workflowCodes,
  ...agentCodes,
  ...auditCodes,
  ...inspectCodes,
  ...runtimeCodes,
  ...testingCodes,
  ...cliCodes
}))() satisfies CodeTexts

/** The stable code of an error: docs/errors.md lists all of them. Never renamed, never reused. */
export type ErrorCode = keyof typeof errorCatalogue

/** The names inside `{braces}` of a catalogue message; they are the error's context. */
type Placeholder<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never

type Catalogue = typeof errorCatalogue

/** Context an error of this code carries: one printable value for each placeholder. */
export type ErrorContext<Code extends ErrorCode> = Readonly<
  Record<Placeholder<Catalogue[Code]['message'] | Catalogue[Code]['fix']>, string | number>
>

const footprint = Symbol.for('tallystick/TallyError')

/**
 * The one error class. Thrown for misuse and for corruption; expected failures are data.
 * `code` is stable and never reused, `message` says what happened, `fix` says what to do.
 * Recognise it with {@link isTallyError}, which also works across duplicate installs.
 */
export class TallyError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'TallyError'
  readonly code: Code
  readonly context: ErrorContext<Code>
  readonly fix: string

  constructor(
    code: Code,
    { message, fix }: Texts,
    context: ErrorContext<Code>,
    options: ErrorOptions = {}
  ) {
    super(message, options)
    this.code = code
    this.context = context
    this.fix = fix
    Object.defineProperty(this, footprint, { value: true })
  }
}

/** Makes errors of the codes of a table. */
type ErrorsOf<Name> = <Code extends Name & ErrorCode>(
  code: Code,
  context: ErrorContext<Code>,
  options?: ErrorOptions
) => TallyError<Code>

/** What makes errors of the codes of a table: their texts are those of the table. */
function errorsOf<Name extends string>(table: CodeTexts<Name>): ErrorsOf<Name> {
  return function errorOf(code, context, options) {
    const { message, fix } = table[code]
    const texts = { message: fill(message, context), fix: fill(fix, context) }
    const error = new TallyError(code, texts, context, options)
    // The stack begins with who called.
    Error.captureStackTrace(error, errorOf)
    return error
  }
}

/**
 * What throws errors: a function for the codes of each room, `throw ledgerError('ledger.locked',
 * { ... })`. A bundle has the texts of those rooms alone whose functions its code calls.
 */
export const coreError = /* @__PURE__ */ errorsOf(coreCodes)
export const identityError = /* @__PURE__ */ errorsOf(identityCodes)
export const expressionError = /* @__PURE__ */ errorsOf(expressionCodes)
export const ledgerError = /* @__PURE__ */ errorsOf(ledgerCodes)
export const blockError = /* @__PURE__ */ errorsOf(blockCodes)
export const capabilityError = /* @__PURE__ */ errorsOf(capabilityCodes)
export const intentError = /* @__PURE__ */ errorsOf(intentCodes)
export const executorError = /* @__PURE__ */ errorsOf(executorCodes)
export const workflowError = /* @__PURE__ */ errorsOf(workflowCodes)
export const agentError = /* @__PURE__ */ errorsOf(agentCodes)
export const auditError = /* @__PURE__ */ errorsOf(auditCodes)
export const inspectError = /* @__PURE__ */ errorsOf(inspectCodes)
export const runtimeError = /* @__PURE__ */ errorsOf(runtimeCodes)
export const testingError = /* @__PURE__ */ errorsOf(testingCodes)
export const cliError = /* @__PURE__ */ errorsOf(cliCodes)

/** For a code that another process names. */
export const anyError = /* @__PURE__ */ errorsOf(errorCatalogue)

/** Whether `error` is a TallyError, and of `code` when one is given (narrows `context`). */
export function isTallyError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: Code
): error is TallyError<Code> {
  if (typeof error !== 'object' || error === null) return false
  try {
    return footprint in error && (code === undefined || Reflect.get(error, 'code') === code)
  } catch {
    // A proxy may throw whatever is asked of it.
    return false
  }
}

function fill(template: string, context: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(context[name]))
}

/**
 * Whether something thrown is an error, of another realm too: where a test runner executes modules
 * in a realm of their own, what Node throws is none of their `Error`.
 */
export function isError(thrown: unknown): thrown is Error {
  return thrown instanceof Error || types.isNativeError(thrown)
}

/** The system's name of an error, such as ENOENT. */
export function errorNumber(error: unknown): string | undefined {
  if (!isError(error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** Throws `ledger.safe_mode` where a reply says that it is why nothing was done. */
export function checkSafeMode(reply: { readonly reason: string; readonly message: string }): void {
  if (reply.reason !== 'safe_mode') return
  throw ledgerError('ledger.safe_mode', { problem: reply.message })
}
