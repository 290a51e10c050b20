import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { methodNames } from '../../src/console/methods.js'
import { errorCatalogue, isTallyError } from '../../src/core/index.js'
import { cases, testMs } from '../support/effort.js'
import { filesBelow, root } from '../support/source.js'
import { corpora, corpusOf, keep } from './corpus.js'
import { mutantsOf } from './mutants.js'
import { methodsElsewhere, readersElsewhere } from './readers.js'
import type { FuzzTarget } from './target.js'
import { closeConsole } from './targets/console.js'
import { closeTargets } from './targets/documents.js'
import { closeSignals } from './targets/functions.js'
import { closeSchedules } from './targets/work.js'
import { targets } from './targets.js'
import '../support/seed.js'

/**
 * Every reader of bytes from outside, on mutants of its corpus: it gives plain data or throws a
 * `TallyError` of the catalogue, the same twice, and reads what it writes as what it has read.
 * `npm run fuzz NAME` does one for as long as it is let, and keeps what it finds in the corpus.
 */

const only = process.env['FUZZ_TARGET']
const chosen = Object.entries(targets).filter(([name]) => only === undefined || name === only)
const runsOf = ({ isSlow }: FuzzTarget) =>
  Number(process.env['FUZZ_CASES'] ?? 0) ||
  cases(
    isSlow === true ? { usual: 5, long: 41, soak: 20_000 } : { usual: 15, long: 413, soak: 400_000 }
  )

afterAll(() => Promise.all([closeTargets(), closeConsole(), closeSignals(), closeSchedules()]))

interface Outcome {
  readonly value?: unknown
  readonly code?: string
}

async function outcomeOf(target: FuzzTarget, input: Buffer): Promise<Outcome> {
  let value: unknown
  try {
    value = await target.read(Buffer.from(input))
  } catch (error) {
    if (isTallyError(error) && error.code in errorCatalogue) return { code: error.code }
    if (target.expects?.(error) === true) return { code: 'expected' }
    throw error
  }
  return { value }
}

/** What is wrong with how a target reads an input; undefined when nothing is. */
async function faultOf(target: FuzzTarget, input: Buffer): Promise<string | undefined> {
  try {
    const outcome = await outcomeOf(target, input)
    if (target.isSlow !== true) {
      const again = await outcomeOf(target, input)
      if (shown(again) !== shown(outcome)) return 'it reads the same input in two ways'
    }
    if (outcome.code !== undefined || target.write === undefined) return undefined
    const written = target.write(outcome.value as never)
    if (written === undefined) return undefined
    const isSame =
      typeof written === 'string' ? written === input.toString('utf8') : input.equals(written)
    if (isSame) return undefined
    return `it reads what it would write as ${JSON.stringify(String(written)).slice(0, 300)}`
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
}

function shown({ value, code }: Outcome): string {
  if (code !== undefined) return code
  return JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? `${one}n` : one))
}

const told = (input: Buffer) => JSON.stringify(input.toString('latin1').slice(0, 2_000))

describe('a reader of bytes from outside', () => {
  it.each(chosen)('reads its corpus of %s', async (name, target) => {
    const inputs = corpusOf(name)
    expect(inputs.length).toBeGreaterThan(0)
    for (const input of inputs) expect(await faultOf(target, input), told(input)).toBeUndefined()
    // Otherwise all mutants could be refused for the same reason, which would show nothing.
    const first = await Promise.all(inputs.map((input) => outcomeOf(target, input)))
    expect(first.some(({ code }) => code === undefined)).toBe(true)
  })

  it.each(chosen)(
    'gives data or a known error for mutants of %s',
    { timeout: testMs(300_000) },
    async (name, target) => {
      const property = fc.asyncProperty(mutantsOf(corpusOf(name)), async (input) => {
        expect(await faultOf(target, input)).toBeUndefined()
      })
      const checked = await fc.check(property, { numRuns: runsOf(target) })
      if (!checked.failed) return
      const [input = Buffer.alloc(0)] = checked.counterexample ?? []
      const place = only === undefined ? '' : `kept as ${keep(name, input)}, `
      expect.fail(`${place}seed ${checked.seed}: ${await faultOf(target, input)}\n${told(input)}`)
    }
  )
})

describe('the table of readers', () => {
  const named = Object.values(targets).flatMap(({ readers }) => readers)

  it('names every function of the sources that reads, parses or decodes', () => {
    const verbs = 'parse|parsing|decode|read|reading|held'
    const reading = new RegExp(
      `^export (?:async )?function\\*? ((?:${verbs})[A-Z]\\w*|parse|reading)\\b`,
      'gm'
    )
    const found = filesBelow('src', ['.ts']).flatMap((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      return [...text.matchAll(reading)].map(([, name]) => `${path.replace('src/', '')}#${name}`)
    })
    expect(found.length).toBeGreaterThan(60)
    const known = new Set([...named, ...Object.keys(readersElsewhere)])
    expect(found.filter((one) => !known.has(one))).toEqual([])
    expect([...known].filter((one) => !found.includes(one) && !one.includes('exact'))).toEqual([])
  })

  it('has every method of the service that another process may call', () => {
    const text = corpora()
      .flatMap((name) => corpusOf(name).map(String))
      .join('\n')
    const driven = new Set([...text.matchAll(/"method":"(\w+)"/g)].map(([, name]) => name))
    const undriven = methodNames.filter((name) => !driven.has(name))
    expect(undriven.sort()).toEqual(Object.keys(methodsElsewhere))
  })

  it('has a corpus for every target and for nothing else', () => {
    expect(corpora()).toEqual(Object.keys(targets).sort())
  })
})
