import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import type { Impurity, Place } from './report.js'

/** A block, or the body of a workflow in code. */
type Code = { readonly run: unknown }

/** Names of the variables around code, with what they hold as text. */
export type Variables = ReadonlyMap<string, string>

const held = Symbol.for('tallystick.detected')
const edge = new Set(['Global', 'Script'])

/**
 * Reads the variables around a block's code as a debugger does; the engine keeps them where
 * functions can use them again.
 */
export function variablesAround(code: Code): Variables {
  return inspected(code, (session, objectId) => {
    const written = codeOf(session, objectId)
    const variables = variablesOf(session, scopesOf(session, written))
    return new Map(variables.map((one) => [one.name, textOf(session, one)]))
  })
}

/** Where the function of a block begins, taken to be in its module. */
export function placeOfCode(code: Code, file: string): Place | undefined {
  const location = inspected(code, (session, objectId) =>
    membersOf(session, codeOf(session, objectId)).find(
      ({ name }) => name === '[[FunctionLocation]]'
    )
  )
  const at = location?.value?.value
  if (typeof at !== 'object' || at === null) return undefined
  return { file, line: Number(Reflect.get(at, 'lineNumber')) + 1 }
}

function inspected<Result>(
  code: Code,
  read: (session: Session, objectId: string | undefined) => Result
): Result {
  const session = new Session()
  session.connect()
  Reflect.set(globalThis, held, code)
  try {
    const expression = 'globalThis[Symbol.for("tallystick.detected")]'
    const found = ask(session, 'Runtime.evaluate', { expression }).result as Remote['value']
    return read(session, found?.objectId)
  } finally {
    Reflect.deleteProperty(globalThis, held)
    session.disconnect()
  }
}

/** Variables that hold something else than before. */
export function changedVariables(
  before: Variables,
  after: Variables,
  file: string
): readonly Impurity[] {
  const changed = [...after].filter(([name, text]) => before.get(name) !== text)
  return changed.map(([name]) => {
    const line = lineOf(name, file)
    return {
      kind: 'module state',
      api: `variable ${name}`,
      ...(line === undefined ? {} : { at: { file, line } }),
      instead: 'ctx.state'
    }
  })
}

interface Remote {
  readonly name: string
  readonly value?: {
    readonly objectId?: string
    readonly value?: unknown
    readonly unserializableValue?: string
    readonly description?: string
  }
}

/** What `defineBlock` and `defineWorkflow` call the object that the author has given them. */
const givenNames = new Set(['definition', 'given'])

/** The function that the author wrote: the library puts one of its own round it. */
function codeOf(session: Session, objectId: string | undefined): string | undefined {
  const outer = methodOf(session, objectId)
  const around = variablesOf(session, scopesOf(session, outer))
  const definition = around.find(({ name }) => givenNames.has(name))
  return methodOf(session, definition?.value?.objectId) ?? outer
}

function methodOf(session: Session, objectId: string | undefined): string | undefined {
  return membersOf(session, objectId).find(({ name }) => name === 'run')?.value?.objectId
}

interface Answer {
  readonly result?: unknown
  readonly internalProperties?: unknown
}

/** A session in its own process answers before `post` returns. */
function ask(session: Session, method: string, given: object): Answer {
  let answer: Answer = {}
  session.post(method, given, (_error, result) => {
    answer = result ?? {}
  })
  return answer
}

function membersOf(session: Session, objectId: string | undefined): readonly Remote[] {
  if (objectId === undefined) return []
  const given = { objectId, ownProperties: true }
  const { result, internalProperties } = ask(session, 'Runtime.getProperties', given)
  return [result, internalProperties].flatMap((list) => (list ?? []) as readonly Remote[])
}

function scopesOf(session: Session, code: string | undefined): readonly Remote[] {
  const scopes = membersOf(session, code).find(({ name }) => name === '[[Scopes]]')
  const all = membersOf(session, scopes?.value?.objectId)
  return all.filter(({ value }) => value !== undefined && !edge.has(value.description ?? ''))
}

function variablesOf(session: Session, scopes: readonly Remote[]): readonly Remote[] {
  // The innermost scope hides those around it.
  return [...scopes].reverse().flatMap(({ value }) => membersOf(session, value?.objectId))
}

function textOf(session: Session, { value }: Remote): string {
  if (value?.objectId === undefined) {
    return String(value?.unserializableValue ?? JSON.stringify(value?.value))
  }
  const given = {
    objectId: value.objectId,
    functionDeclaration: `function () { return (${describe.toString()})(this, 4) }`,
    returnByValue: true
  }
  const { result } = ask(session, 'Runtime.callFunctionOn', given)
  return String((result as Remote['value'])?.value)
}

/** Its text is run by the debugger, so it uses nothing around it. */
function describe(value: unknown, depth: number): string {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'object' && typeof value !== 'function') return String(value)
  if (value === null || depth === 0) return '…'
  if (value instanceof Promise || value instanceof WeakMap) return '…'
  const pairs: [unknown, unknown][] = []
  if (value instanceof Map) pairs.push(...value.entries())
  if (value instanceof Set) pairs.push(...value.entries())
  for (const [key, one] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    if ('value' in one && key !== 'prototype') pairs.push([key, one.value])
  }
  const texts = pairs
    .slice(0, 1_000)
    .map(([key, one]) => `${describe(key, depth - 1)}:${describe(one, depth - 1)}`)
  return `{${texts.join()}}`.slice(0, 100_000)
}

function lineOf(name: string, file: string): number | undefined {
  const escaped = name.replaceAll('$', '\\$')
  const lines = readFileSync(file, 'utf8').split('\n')
  const declared = new RegExp(
    `\\b(?:let|var|const|class|function|import)\\b.*(?<![\\w$])${escaped}(?![\\w$])`
  )
  const index = lines.findIndex((line) => declared.test(line))
  return index === -1 ? undefined : index + 1
}
