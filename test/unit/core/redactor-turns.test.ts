import { describe, expect, it } from 'vitest'
import { canonicalize, DocumentWork, limits, Redactor } from '../../../src/core/index.js'
import { isLong } from '../../support/effort.js'
import { encodings } from '../../support/secrets.js'
import { stepsOf } from '../../support/steps-between-turns.js'

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

const fills: Readonly<Record<string, string>> = {
  backslashes: '\\',
  'escaped quotes': '\\"',
  'escapes of backslashes': '\\u005c',
  'percent signs': '%25',
  'escapes in each other': '\\u0025%5c'
}

describe('S1: a redactor looks at a long text in slices', () => {
  it.each(Object.entries(fills))('of a bounded number of steps: %s', async (_, unit) => {
    const half = unit.repeat(LENGTH / unit.length / 2)
    const text = canonicalize({ [secret]: `${half} ${secret} ${half}` })
    let clean = ''
    const { mostOfSlice, turns } = await stepsOf(async () => {
      clean = await redactor().inTurns('canonical', text)
    })
    expect(clean).toBe(redactor().canonical(text))
    expect(clean).not.toContain(secret)
    expect(mostOfSlice).toBeLessThanOrEqual(stepsOfSliceMax(text))
    expect(turns).toBeGreaterThan(1)
  })

  it.each(Object.entries(fills))('and reads each part of it once: %s', async (_, unit) => {
    const text = unit.repeat(LENGTH / unit.length)
    const inTurns = await stepsOf(() => redactor().inTurns('text', text))
    const work = new DocumentWork()
    work.during(() => redactor().text(text))
    expect(inTurns.total).toBeLessThan(1.5 * work.sliceSteps)
  })

  it('and finds what it finds at once, wherever a part ends', async () => {
    const blocks = Object.values(encodings).map((encode, place) => {
      return `${'x'.repeat(11 * place)}\\n%20 ${encode(`${secret}`)} "`
    })
    let text = ''
    for (let count = 0; text.length < LENGTH; count += 1) {
      text += `${'.'.repeat(count % 61)}${blocks[count % blocks.length]}`
    }
    expect(await redactor().inTurns('text', text)).toBe(redactor().text(text))
  })

  it('also one that reads in one way only', async () => {
    const text = `${secret.slice(1)}`.repeat(LENGTH / secret.length)
    const sliceSteps = limits.DOCUMENT_SLICE_STEPS / 5
    const { mostOfSlice } = await stepsOf(() => redactor().inTurns('text', text), { sliceSteps })
    expect(mostOfSlice).toBeLessThan(2 * sliceSteps)
  })
})
