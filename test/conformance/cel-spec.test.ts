import { readFileSync } from 'node:fs'
import {
  type CelValue,
  celList,
  celMap,
  celUint,
  isCelList,
  isCelMap,
  isCelType,
  isCelUint
} from '@bufbuild/cel'
import type { SimpleTest } from '@bufbuild/cel-spec/cel/expr/conformance/test/simple_pb.js'
import { SimpleTestSchema } from '@bufbuild/cel-spec/cel/expr/conformance/test/simple_pb.js'
import type { Value } from '@bufbuild/cel-spec/cel/expr/value_pb.js'
import { getTestRegistry } from '@bufbuild/cel-spec/testdata/registry.js'
import {
  getConformanceSuite,
  type IncrementalTestSuite
} from '@bufbuild/cel-spec/testdata/tests.js'
import { toJsonString } from '@bufbuild/protobuf'
import { isReflectMessage } from '@bufbuild/protobuf/reflect'
import { anyUnpack } from '@bufbuild/protobuf/wkt'
import { describe, expect, it } from 'vitest'
import { isTallyError } from '../../src/core/index.js'
import { numberOf } from '../../src/expression/bufbuild/decimals.js'
import { createCelEvaluator } from '../../src/expression/bufbuild/engine.js'
import { decimalText } from '../../src/expression/decimal.js'
import { AIS_PROFILE } from '../../src/expression/index.js'

/** Why a case is refused; a wrong value is never listed, it fails the test. */
interface Refusals {
  readonly sections: Readonly<Record<string, string>>
  readonly cases: Readonly<Record<string, string>>
}

const refusals: Refusals = JSON.parse(
  readFileSync(new URL('../vectors/cel-refusals.json', import.meta.url), 'utf8')
)
const registry = getTestRegistry()
const evaluate = createCelEvaluator()
const evaluateAis = createCelEvaluator(AIS_PROFILE)

interface Case {
  readonly name: string
  readonly section: string
  readonly test: SimpleTest
}

function casesOf(suite: IncrementalTestSuite, path: readonly string[]): Case[] {
  const own = suite.tests.map((test) => ({
    name: [...path, test.name].join('/'),
    section: path[0] ?? '',
    test: test.original
  }))
  return [...own, ...suite.suites.flatMap((child) => casesOf(child, [...path, child.name]))]
}

const protobuf =
  /TestAllTypes|GlobalEnum|NestedEnum|proto[23]|google\.protobuf\.(?!Timestamp|Duration)/

function needsProtobuf({ test }: Case): boolean {
  const text = toJsonString(SimpleTestSchema, test, { registry })
  return test.container === 'google.protobuf' || protobuf.test(text)
}

const all = casesOf(getConformanceSuite(), [])
const plain = all.filter((one) => !needsProtobuf(one))

type Verdict = 'right' | 'refused' | 'wrong'

function verdictOf({ test }: Case, run = evaluate, isSame = same): Verdict {
  const isErrorDue = test.resultMatcher.case === 'evalError'
  // Name resolution inside a container is no part of the profile, so there is no way to ask for it.
  if (test.container !== '') return 'refused'
  if (test.checkOnly) return 'refused'
  let value: CelValue | undefined
  try {
    const variables = Object.entries(test.bindings).map(([name, bound]) => {
      if (bound.kind.case !== 'value') throw new Error('unknown binding')
      return [name, celOf(bound.kind.value)] as const
    })
    value = run(test.expr, Object.fromEntries(variables))
  } catch (error) {
    if (isTallyError(error, 'expression.invalid')) return isErrorDue ? 'right' : 'refused'
    throw error
  }
  if (value === undefined) return isErrorDue ? 'right' : 'refused'
  if (isErrorDue) return 'wrong'
  return isSame(value, expectedOf(test)) ? 'right' : 'wrong'
}

function expectedOf(test: SimpleTest): CelValue {
  const matcher = test.resultMatcher
  if (matcher.case === 'value') return celOf(matcher.value)
  if (matcher.case === 'typedResult' && matcher.value.result) return celOf(matcher.value.result)
  return true
}

function celOf(value: Value): CelValue {
  const { kind } = value
  switch (kind.case) {
    case 'nullValue':
      return null
    case 'uint64Value':
      return celUint(kind.value)
    case 'listValue':
      return celList(kind.value.values.map(celOf))
    case 'mapValue':
      return celMap(
        new Map(
          kind.value.entries.map(({ key, value: member }) => {
            if (key === undefined || member === undefined) throw new Error('incomplete entry')
            return [celOf(key) as string, celOf(member)]
          })
        )
      )
    case 'typeValue':
      return typeNamed(kind.value)
    case 'objectValue':
      return anyUnpack(kind.value, registry) as unknown as CelValue
    case 'boolValue':
    case 'int64Value':
    case 'doubleValue':
    case 'stringValue':
    case 'bytesValue':
      return kind.value
    default:
      throw new Error(`unexpected ${String(kind.case)}`)
  }
}

function typeNamed(name: string): CelValue {
  return { typeNamed: name } as unknown as CelValue
}

/** Sameness of kind and value, stricter than CEL's equality across number types. */
function same(actual: CelValue, expected: CelValue): boolean {
  if (typeof expected === 'number' && typeof actual === 'number') {
    return Object.is(actual, expected) || (actual === 0 && expected === 0)
  }
  if (typeof expected !== 'object' || expected === null) return actual === expected
  if ('typeNamed' in expected)
    return isCelType(actual) && String(actual.name) === String(expected.typeNamed)
  if (expected instanceof Uint8Array) {
    return actual instanceof Uint8Array && Buffer.compare(actual, expected) === 0
  }
  if (isCelUint(expected)) return isCelUint(actual) && actual.value === expected.value
  if (isCelList(expected)) {
    if (!isCelList(actual) || actual.size !== expected.size) return false
    return [...expected].every((item, index) => same(actual.get(index) as CelValue, item))
  }
  if (isCelMap(expected)) {
    if (!isCelMap(actual) || actual.size !== expected.size) return false
    return [...expected].every(([key, item]) => {
      const found = [...actual].find(([other]) => same(other as CelValue, key as CelValue))
      return found !== undefined && same(found[1], item)
    })
  }
  const message = expected as unknown as { seconds?: bigint; nanos?: number; $typeName?: string }
  if (!isReflectMessage(actual)) return false
  const got = actual.message as typeof message
  return (
    got.$typeName === message.$typeName &&
    got.seconds === message.seconds &&
    got.nanos === message.nanos
  )
}

const verdicts = plain.map((one) => ({ ...one, verdict: verdictOf(one) }))

const sections = [...new Set(plain.map(({ section }) => section))].sort()
describe('CEL conformance suite, cases without protobuf types', () => {
  it('has the expected number of cases', () => {
    expect(plain.length).toBeGreaterThan(1_600)
  })

  it.each(sections)('%s: no wrong value, and only listed refusals', (section) => {
    const own = verdicts.filter((one) => one.section === section)
    expect(own.filter(({ verdict }) => verdict === 'wrong').map(({ name }) => name)).toEqual([])
    if (refusals.sections[section] !== undefined) return
    const refused = own.filter(({ verdict }) => verdict === 'refused').map(({ name }) => name)
    const listed = Object.keys(refusals.cases).filter((name) => name.startsWith(`${section}/`))
    expect(refused.sort()).toEqual(listed.sort())
  })

  it('gives a reason for every refusal', () => {
    for (const reason of Object.values({ ...refusals.sections, ...refusals.cases })) {
      expect(reason.length).toBeGreaterThan(10)
    }
  })
})

/** Sameness under the profile of AIS: numbers are of one kind, and exact; types are text. */
function sameOfAis(actual: CelValue, expected: CelValue): boolean {
  const number = numberOf(actual)
  if (number !== undefined) {
    const text = decimalText(number, () => undefined)
    if (typeof expected === 'number') return Number(text) === expected
    return text === String(isCelUint(expected) ? expected.value : expected)
  }
  if (typeof expected !== 'object' || expected === null) return actual === expected
  if ('typeNamed' in expected) return actual === String(expected.typeNamed)
  if (isCelList(expected)) {
    if (!isCelList(actual) || actual.size !== expected.size) return false
    return [...expected].every((item, index) => sameOfAis(actual.get(index) as CelValue, item))
  }
  if (isCelMap(expected)) {
    if (!isCelMap(actual) || actual.size !== expected.size) return false
    return [...expected].every(([key, item]) =>
      [...actual].some(
        ([other, found]) => sameOfAis(other as CelValue, key as CelValue) && sameOfAis(found, item)
      )
    )
  }
  return same(actual, expected)
}

const departures: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(new URL('../vectors/ais-cel-departures.json', import.meta.url), 'utf8')
)

describe('CEL conformance suite under ais-cel/1', () => {
  it('gives other values only where a departure is listed with its reason', () => {
    const all = plain.map((one) => ({ ...one, verdict: verdictOf(one, evaluateAis, sameOfAis) }))
    const wrong = all.filter(({ verdict }) => verdict === 'wrong').map(({ name }) => name)
    expect(wrong.sort()).toEqual(Object.values(departures).flat().sort())
    for (const reason of Object.keys(departures)) expect(reason.length).toBeGreaterThan(10)
    expect(all.filter(({ verdict }) => verdict === 'right').length).toBeGreaterThan(700)
  })
})
