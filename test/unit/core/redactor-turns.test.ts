import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalize, DocumentWork, type Json, limits, Redactor } from '../../../src/core/index.js'
import { cases } from '../../support/effort.js'
import { encodings } from '../../support/secrets.js'
import { stepsOf } from '../../support/steps-between-turns.js'

const secret = 's3cret-value-1234'
const LENGTH = cases({
  usual: 300_000,
  long: limits.VALUE_BYTES_MAX / 8,
  soak: limits.VALUE_BYTES_MAX / 4
})
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

  it('and comes to what it comes to at once, whatever it is given', async () => {
    const short = redactor()
    const long = new Redactor()
    long.know(`file:/${'x'.repeat(limits.VALUE_BYTES_MAX)}`, secret)
    long.know('env:N', '12345678')
    const texts = fc
      .array(fc.constantFrom('a', '\\', '%25', ' ', secret, secret.slice(0, 9), '12345678'))
      .map((parts) => parts.join(''))
    const { json } = fc.letrec<{ json: Json }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 3 },
        texts,
        fc.constantFrom(null, true, 0, -1.5, 12345678, 9_123_456_780),
        fc.array(tie('json'), { maxLength: 3 }),
        fc.dictionary(texts, tie('json'), { maxKeys: 3, noNullPrototype: true })
      )
    }))
    await fc.assert(
      fc.asyncProperty(json, fc.constantFrom(short, long), async (value, one) => {
        const text = canonicalize(value)
        expect(await one.inTurns('json', value)).toEqual(one.json(value))
        expect(await one.inTurns('text', text)).toBe(one.text(text))
        expect(await one.inTurns('canonical', text)).toBe(one.canonical(text))
      })
    )
  })

  it.each([-20, -17, -16, -1, 0, 1])(
    'and finds a secret %i characters from where its first part ends',
    async (shift) => {
      const part = 64 * 1024
      for (const length of [part + shift, 2 * part + shift]) {
        const text = `${'x'.repeat(length)}${secret}`
        expect(await redactor().inTurns('text', text)).toBe(`${'x'.repeat(length)}[env:A]`)
        const between = `${text}${'x'.repeat(part)}${secret}y`
        expect(await redactor().inTurns('text', between)).toBe(redactor().text(between))
      }
    }
  )

  it('and has the short mark in turns too, where a reference has too many bytes', async () => {
    const wide = new Redactor()
    wide.know(`env:${'\u00e4'.repeat(28)}`, '12345678')
    const places = limits.VALUE_BYTES_MAX / 64
    const text = canonicalize(`12345678${'x'.repeat(24)}`.repeat(places))
    expect(await wide.inTurns('canonical', text)).toBe(wide.canonical(text))
  })
})
