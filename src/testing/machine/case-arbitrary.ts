import type { Arbitrary } from 'fast-check'
import type { Json } from '../../core/index.js'
import { variations } from '../ambient.js'
import {
  type Case,
  type Death,
  type Manner,
  manners,
  type PersonAct,
  type ScriptedEffect,
  type Trouble
} from './case.js'
import type { FastCheck } from './fast-check.js'
import type { PeopleOptions } from './options.js'

/** What cases are made of. */
export interface CaseParts {
  readonly input: Arbitrary<Json>
  readonly concurrent: number
  readonly effects: Readonly<Record<string, EffectParts>>
  readonly people: PeopleOptions
  readonly mayRedeploy: boolean
}

export interface EffectParts {
  /** Undefined: a function of the options answers. */
  readonly answer: Arbitrary<Json> | undefined
  readonly troubles: readonly string[]
}

const ANSWERS_MAX = 4
const TROUBLES_MAX = 6
const ACTS_MAX = 6
const DEATHS_MAX = 2
/** More than a short run has: a death is counted round after round of its boundaries. */
const BOUNDARIES = 240
const ACTIONS = 5
const SLOW_MS = [50, 5_000, 3_600_000] as const
const DOWN_MS = [1_000, 3_600_000, 172_800_000] as const
/** Of ten: an effect mostly does what it is asked. */
const PLAIN = 6

/** Cases, the plainest first when one is shrunk: no troubles, no people, no deaths. */
export function caseArbitrary(fc: FastCheck, parts: CaseParts): Arbitrary<Case> {
  const { input, concurrent, effects, people, mayRedeploy } = parts
  const worlds = Object.entries(effects).map(
    ([name, effect]) => [name, scripted(fc, effect)] as const
  )
  const names = variations().map(({ name }) => name)
  const model = {
    inputs: fc.array(input, { minLength: 1, maxLength: concurrent }),
    effects: fc.record(Object.fromEntries(worlds), { noNullPrototype: true }),
    people: fc.array(act(fc, people), { maxLength: ACTS_MAX }),
    deaths: fc.array(death(fc, mayRedeploy), { maxLength: DEATHS_MAX }),
    again: fc.constantFrom(...names)
  }
  const requiredKeys = ['inputs', 'effects', 'people', 'deaths'] as const
  return fc.record(model, { requiredKeys: [...requiredKeys], noNullPrototype: true })
}

function scripted(fc: FastCheck, { answer, troubles }: EffectParts): Arbitrary<ScriptedEffect> {
  const list = fc.array(trouble(fc, troubles), { maxLength: TROUBLES_MAX })
  if (answer === undefined) return fc.record({ troubles: list }, { noNullPrototype: true })
  const answers = fc.array(answer, { minLength: 1, maxLength: ANSWERS_MAX })
  return fc.record({ answers, troubles: list }, { noNullPrototype: true })
}

function trouble(fc: FastCheck, kinds: readonly string[]): Arbitrary<Trouble> {
  const all: Trouble[] = []
  if (kinds.includes('refuses')) all.push('refuses')
  if (kinds.includes('loses')) all.push('loses')
  if (kinds.includes('loses_done')) all.push('loses_done')
  if (kinds.includes('reverts')) all.push('reverts')
  if (kinds.includes('slow')) all.push(...SLOW_MS)
  if (all.length === 0) return fc.constant<Trouble>(null)
  return fc.oneof(
    { withCrossShrink: true },
    { weight: PLAIN, arbitrary: fc.constant<Trouble>(null) },
    { weight: 10 - PLAIN, arbitrary: fc.constantFrom<Trouble[]>(...all) }
  )
}

function act(fc: FastCheck, options: PeopleOptions): Arbitrary<PersonAct> {
  const given = options.manners ?? manners
  const value = (options.values as Arbitrary<Json> | undefined) ?? anyValue(fc)
  const model = {
    chooses: fc.nat({ max: ACTIONS }),
    value,
    ...(given.length === 0 ? {} : { manner: fc.constantFrom<Manner[]>(...given) })
  }
  return fc.record(model, { requiredKeys: [], noNullPrototype: true })
}

function anyValue(fc: FastCheck): Arbitrary<Json> {
  return fc.constantFrom<Json[]>(null, true, false, 0, 1, -1, '', 'text', [], {})
}

function death(fc: FastCheck, mayRedeploy: boolean): Arbitrary<Death> {
  const options = { requiredKeys: ['at'] as ['at'], noNullPrototype: true } as const
  const atOnce = {
    at: fc.integer({ min: 1, max: BOUNDARIES }),
    ...(mayRedeploy ? { redeploys: fc.constant(true as const) } : {})
  }
  const later = { ...atOnce, downMs: fc.constantFrom(...DOWN_MS) }
  return fc.oneof(
    { withCrossShrink: true },
    { weight: PLAIN, arbitrary: fc.record(atOnce, options) },
    { weight: 10 - PLAIN, arbitrary: fc.record(later, options) }
  )
}
