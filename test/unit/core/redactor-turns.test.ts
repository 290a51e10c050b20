import { describe, expect, it } from 'vitest'
import {
  canonicalize,
  DocumentWork,
  limits,
  type Pieces,
  Redactor
} from '../../../src/core/index.js'
import { isLong } from '../../support/effort.js'
import { encodings } from '../../support/secrets.js'

const secret = 's3cret-value-1234'
const LENGTH = isLong ? limits.VALUE_BYTES_MAX / 4 : 300_000
const CHARS_OF_STEP = 16

/**
 * A part is looked at in a few readings, each of which may be as long as it. The clean text is
 * written in one native call, behind whatever its slice has done before.
 */
function stepsOfSliceMax(text: string): number {
  const slice = limits.DOCUMENT_SLICE_STEPS
  return Math.max(3 * slice, slice + text.length / CHARS_OF_STEP)
}

function redactor(): Redactor {
  const made = new Redactor()
  made.know('env:A', secret)
  return made
}

/** Most steps of one of the slices in which work is done, and what it gives. */
function inSlices<Result>(pieces: Pieces<Result>): {
  readonly result: Result
  readonly most: number
} {
  const work = new DocumentWork()
  for (let most = 0; ; ) {
    const { done, value } = work.during(() => pieces.next())
    most = Math.max(most, work.sliceSteps)
    if (done === true) return { result: value, most }
  }
}

const fills: Readonly<Record<string, string>> = {
  backslashes: '\\',
  'escaped quotes': '\\"',
  'escapes of backslashes': '\\u005c',
  'percent signs': '%25',
  'escapes in each other': '\\u0025%5c'
}

describe('S1: a redactor looks at a long text in slices', () => {
  it.each(Object.entries(fills))('of a bounded number of steps: %s', (_, unit) => {
    const half = unit.repeat(LENGTH / unit.length / 2)
    const text = canonicalize({ [secret]: `${half} ${secret} ${half}` })
    const whole = redactor().canonical(text)
    const { result, most } = inSlices(redactor().cleaning(text))
    expect(result).toBe(whole)
    expect(result).not.toContain(secret)
    expect(most).toBeLessThanOrEqual(stepsOfSliceMax(text))
  })

  it('and finds what it finds at once, wherever a part ends', () => {
    const blocks = Object.values(encodings).map((encode, place) => {
      return `${'x'.repeat(11 * place)}\\n%20 ${encode(`${secret}`)} "`
    })
    let text = ''
    for (let count = 0; text.length < LENGTH; count += 1) {
      text += `${'.'.repeat(count % 61)}${blocks[count % blocks.length]}`
    }
    expect(inSlices(redactor().placing(text)).result).toEqual(redactor().places(text))
  })

  it('and the event loop has its turns between them', async () => {
    const text = canonicalize(`${'\\'.repeat(LENGTH)}${secret}`)
    let turns = 0
    let isDone = false
    const turn = () => {
      turns += 1
      if (!isDone) setImmediate(turn)
    }
    setImmediate(turn)
    const clean = await redactor().canonicalInTurns(text)
    isDone = true
    expect(clean).toContain('[env:A]')
    expect(turns).toBeGreaterThan(1)
  })
})
