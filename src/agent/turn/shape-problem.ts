import { isUnheldNumber, type Json } from '../../core/index.js'
import type { TurnRules } from './rules.js'

interface Issue {
  readonly path: readonly PropertyKey[]
  readonly code: string
}

/** What is wrong with a value that does not have its shape, for the model that gave it. */
export function shapeProblem(
  value: Json,
  issue: Issue | undefined,
  options: { readonly whole: string; readonly rules: TurnRules }
): string {
  const path = issue?.path.map(String).join('.') ?? ''
  const problem = `${path === '' ? options.whole : path}: ${issue?.code ?? 'invalid'}`
  const given = issue?.path.reduce<unknown>(memberOf, value)
  const isInexact = typeof given === 'string' && isUnheldNumber(given)
  return isInexact && options.rules.namesInexactNumbers ? `${problem}; ${INEXACT}` : problem
}

const INEXACT = 'this number has more digits than a JSON number keeps: send it as a string'

function memberOf(value: unknown, name: PropertyKey): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<PropertyKey, unknown>>)[name]
}
