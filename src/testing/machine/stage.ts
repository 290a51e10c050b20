import type { Arbitrary } from 'fast-check'
import { isJsonObject, type Json, limits, testingError } from '../../core/index.js'
import { Compilations } from '../../runtime/index.js'
import type { CaseParts, EffectParts } from './case-arbitrary.js'
import type { FastCheck } from './fast-check.js'
import type {
  AnyArbitrary,
  AnySchema,
  CaseOptions,
  EffectAnswer,
  EffectOptionsOfWorld,
  MachineOptions
} from './options.js'
import type { Stage } from './play.js'
import type { PreparedTarget } from './prepared-target.js'
import { schemaArbitrary, UnmadeSchema } from './schema-arbitrary.js'
import { SIGNAL } from './world.js'
import type { WorldEffect } from './world-parts.js'

/** What every play of a target has in common. */
export function stageOf(target: PreparedTarget, options: CaseOptions): Stage {
  const { source, registrations, compilations, hosted, rooms } = target
  const { people = {}, context = {}, next, bounds = {} } = options
  const effects = { ...target.effects, ...options.effects }
  return {
    source,
    compilations,
    reversedCompilations: new Compilations(),
    registrations,
    hosted,
    rooms,
    next,
    effects: new Map(Object.entries(effects).map(([name, one]) => [name, worldEffect(one)])),
    people,
    context,
    bounds: {
      steps: limits.MACHINE_STEPS_MAX,
      stateBytes: limits.MACHINE_STATE_BYTES_MAX,
      journalBytes: limits.MACHINE_JOURNAL_BYTES_MAX,
      effects: limits.MACHINE_EFFECTS_MAX,
      ...bounds
    }
  }
}

function worldEffect({ answer, repeats }: EffectOptionsOfWorld): WorldEffect {
  const how = answer === 'own' || isFunction(answer) ? answer : 'scripted'
  return { answer: how, repeats }
}

const allTroubles = ['refuses', 'loses', 'loses_done', 'slow'] as const

/** Of a chain, what is included may have had no effect besides; signals are up to people. */
function troublesOf(effect: string): EffectParts['troubles'] {
  if (effect.startsWith(SIGNAL)) return []
  return effect.startsWith('chain.write ') ? [...allTroubles, 'reverts'] : allTroubles
}

/** What cases of a target are generated from. Throws `testing.inputs_missing`. */
export function partsOf(fc: FastCheck, target: PreparedTarget, options: MachineOptions): CaseParts {
  const { concurrent = 1, next } = options
  const known = target.values.length === 0 ? {} : { values: fc.constantFrom(...target.values) }
  const people = { ...known, ...options.people }
  const effects = { ...target.effects, ...options.effects }
  const parts = Object.entries(effects).map(
    ([name, { answer, troubles }]): [string, EffectParts] => [
      name,
      { answer: answerArbitrary(fc, name, answer), troubles: troubles ?? troublesOf(name) }
    ]
  )
  return {
    input: inputArbitrary(fc, target, options),
    concurrent,
    effects: Object.fromEntries(parts),
    people,
    mayRedeploy: next !== undefined
  }
}

function answerArbitrary(
  fc: FastCheck,
  effect: string,
  answer: EffectOptionsOfWorld['answer']
): Arbitrary<Json> | undefined {
  if (answer === 'own' || isFunction(answer)) return undefined
  if (isArbitrary(answer)) return asArbitrary(answer)
  try {
    return schemaArbitrary(fc, jsonSchemaOf(answer))
  } catch (cause) {
    if (!(cause instanceof UnmadeSchema)) throw cause
    throw testingError('testing.answer_missing', { effect }, { cause })
  }
}

/** A function, and not a schema that is one. */
function isFunction(answer: unknown): answer is EffectAnswer {
  return typeof answer === 'function' && !('~standard' in answer)
}

const SAMPLED = 50

function inputArbitrary(
  fc: FastCheck,
  target: PreparedTarget,
  { inputs }: MachineOptions
): Arbitrary<Json> {
  const { name, takes } = target
  if (isArbitrary(inputs)) return asArbitrary(inputs)
  const { schema, open } = takes
  if (open !== undefined && inputs === undefined) {
    throw testingError('testing.inputs_missing', { target: name, problem: open })
  }
  if (schema === undefined && inputs === undefined) {
    const problem = 'no block that gets them unchanged has a schema'
    throw testingError('testing.inputs_missing', { target: name, problem })
  }
  const base = schema === undefined ? fc.constant<Json>({}) : inputsOf(fc, schema, name)
  const made = inputs === undefined ? base : withPaths(fc, base, inputs)
  const fits = (value: Json) => takes.problem(value) === undefined
  // A schema may ask for more than its JSON form says.
  const sample = fc.sample(made, { numRuns: SAMPLED, seed: 1 })
  const [first = null] = sample
  if (!sample.some(fits)) {
    const problem = takes.problem(first) ?? 'its schema refuses them'
    throw testingError('testing.inputs_missing', { target: name, problem })
  }
  return made.filter(fits)
}

function inputsOf(fc: FastCheck, schema: Json, target: string): Arbitrary<Json> {
  try {
    return schemaArbitrary(fc, schema)
  } catch (cause) {
    if (!(cause instanceof UnmadeSchema)) throw cause
    const problem = cause.message
    throw testingError('testing.inputs_missing', { target, problem }, { cause })
  }
}

function withPaths(
  fc: FastCheck,
  base: Arbitrary<Json>,
  paths: Readonly<Record<string, AnyArbitrary<Json>>>
): Arbitrary<Json> {
  const own = Object.entries(paths).map(([path, one]) => [path, asArbitrary(one)] as const)
  return fc
    .tuple(base, fc.record(Object.fromEntries(own), { noNullPrototype: true }))
    .map(([value, members]) =>
      Object.entries(members).reduce<Json>((into, [path, member]) => {
        return withMember(into, path.split('.'), member)
      }, value)
    )
}

function withMember(into: Json, [key = '', ...rest]: readonly string[], member: Json): Json {
  const value = rest.length === 0 ? member : undefined
  if (Array.isArray(into)) {
    return into.map((one, index) =>
      String(index) === key ? (value ?? withMember(one, rest, member)) : one
    )
  }
  const object = isJsonObject(into) ? into : {}
  return { ...object, [key]: value ?? withMember(object[key] ?? {}, rest, member) }
}

function isArbitrary(value: unknown): value is AnyArbitrary<Json> {
  return typeof value === 'object' && value !== null && 'canShrinkWithoutContext' in value
}

/** It was made by the same library, as its two methods say. */
function asArbitrary(value: AnyArbitrary<Json>): Arbitrary<Json> {
  return value as unknown as Arbitrary<Json>
}

interface StandardJson {
  readonly jsonSchema?: { input(options: { readonly target: string }): unknown }
}

/** The JSON form of a Standard Schema, or the JSON Schema itself. */
function jsonSchemaOf(schema: AnySchema): Json {
  if (!('~standard' in schema)) return schema as Json
  const { jsonSchema } = schema['~standard'] as StandardJson
  const json = jsonSchema?.input({ target: 'draft-2020-12' })
  if (json === undefined) throw new UnmadeSchema('it offers no JSON form')
  return JSON.parse(JSON.stringify(json)) as Json
}
