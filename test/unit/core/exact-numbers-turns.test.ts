import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../src/core/document/pieces.js'
import {
  exactJson,
  exactJsonInTurns,
  exactNumbers,
  exactNumbersInTurns,
  exactReading,
  strictJsonInTurns
} from '../../../src/core/index.js'

/** Longer than what is read in one call. */
const ITEMS = 4_000
const item = '{"wei":1000000000000000001,"name":"a \\"1000000000000000003\\" b","n":12.5}'
const exactItem = { wei: '1000000000000000001', name: 'a "1000000000000000003" b', n: 12.5 }
const listOf = (length: number) => `[${Array.from({ length }, () => item).join(',')}]`

describe('numbers of text from outside, in turns', () => {
  it.each([0, 1, ITEMS])('are those of the text in one piece: %i items', async (length) => {
    const text = listOf(length)
    const expected = Array.from({ length }, () => exactItem)
    expect(await exactNumbersInTurns(text)).toBe(exactNumbers(text))
    expect(exactJson(text)).toEqual(expected)
    expect(await exactJsonInTurns(text)).toEqual(expected)
    expect(await strictJsonInTurns(text)).toEqual(expected)
    expect(atOnce(exactReading(text))).toEqual(expected)
  })

  it('reads a long text strictly, which a short one is not', async () => {
    const twice = '{"a":1,"a":2}'
    const long = `[${twice}${`,${item}`.repeat(ITEMS)}]`
    expect(await exactJsonInTurns(twice)).toEqual({ a: 2 })
    await expect(exactJsonInTurns(long)).rejects.toMatchObject({ code: 'core.malformed_json' })
    expect(() => atOnce(exactReading(long))).toThrow(
      expect.objectContaining({ code: 'core.malformed_json' })
    )
    await expect(strictJsonInTurns(twice)).rejects.toMatchObject({ code: 'core.malformed_json' })
  })

  it('leaves a text that is no JSON none', async () => {
    for (const text of ['{"a":', `${listOf(ITEMS)}}`]) {
      await expect(exactJsonInTurns(text)).rejects.toThrow()
      expect(() => atOnce(exactReading(text))).toThrow()
    }
  })
})
