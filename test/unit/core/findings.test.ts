import { describe, expect, it } from 'vitest'
import { type Finding, limits, reported } from '../../../src/core/index.js'

interface Found extends Finding {
  readonly isError: boolean
}

const report = (found: readonly Found[]) =>
  reported<Found>(found, {
    isError: ({ isError }) => isError,
    more: ({ more, message, hasErrors }) => ({ path: [], message, more, isError: hasErrors })
  })

const many = (count: number, isError: boolean): readonly Found[] =>
  Array.from({ length: count }, (_, index) => ({
    path: ['a', index],
    message: `number ${index}`,
    isError
  }))

describe('reported', () => {
  it('names all findings in their order, as long as there are not too many', () => {
    const found = [...many(40, false), ...many(limits.DOCUMENT_FINDINGS_MAX - 40, true)]
    expect(report(found)).toEqual(found)
  })

  it('names errors before doubts, and says how many findings it leaves out', () => {
    const doubts = many(limits.DOCUMENT_FINDINGS_MAX, false)
    const shown = report([...doubts, ...many(7, true)])
    expect(shown).toHaveLength(limits.DOCUMENT_FINDINGS_MAX + 1)
    expect(shown.filter(({ isError }) => isError)).toHaveLength(7)
    expect(shown.at(-1)).toEqual({
      path: [],
      message: '7 more findings are not shown',
      more: 7,
      isError: false
    })
  })

  it('names the member that a schema misses, which its own message does not', () => {
    const message = 'Invalid input: expected string, received undefined'
    const of = (path: Found['path']) => report([{ path, message, isError: true }])[0]?.message
    expect(of(['nodes', 'pay', 'block'])).toBe('block is missing: expected string')
    expect(of(['nodes', 2])).toBe('item 2 is missing: expected string')
    expect(of([])).toBe(message)
  })

  it('counts what an earlier report has left out', () => {
    const first = report(many(150, true))
    const shown = report([...many(3, false), ...first])
    expect(shown).toHaveLength(limits.DOCUMENT_FINDINGS_MAX + 1)
    expect(shown.at(-1)).toMatchObject({ more: 53, isError: true })
    expect(shown.slice(0, -1).every(({ isError }) => isError)).toBe(true)
  })

  it('cuts texts that are too long for a report', () => {
    const long = 'x'.repeat(limits.DIAGNOSTIC_TEXT_LENGTH_MAX + 1)
    const [shown] = report([{ path: [long, 1], message: long, isError: true }])
    expect(shown?.path).toEqual([`${long.slice(1)}...`, 1])
    expect(shown?.message).toBe(`${long.slice(1)}...`)
  })
})
