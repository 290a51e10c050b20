import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareUtf8, SortedMap } from '../../../../src/ledger/stores/sorted-map.js'

const text = fc.string({ unit: 'grapheme' })

describe('SortedMap', () => {
  it('compareUtf8 is the order of the encoded bytes', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const expected = Buffer.compare(Buffer.from(a), Buffer.from(b))
        expect(Math.sign(compareUtf8(a, b))).toBe(expected)
      })
    )
    expect(compareUtf8('\uffff', '\u{10000}')).toBeLessThan(0)
  })

  it('stays sorted while blocks split and vanish', () => {
    const map = new SortedMap<number>()
    const keys = Array.from({ length: 3_000 }, (_, at) => String((at * 7_919) % 3_000))
    keys.forEach((key, at) => {
      map.set(key, at)
    })
    expect(map.size).toBe(3_000)
    expect(map.keys()).toEqual([...keys].sort())
    for (const key of keys.filter((name) => name.startsWith('1'))) map.delete(key)
    map.delete('absent')
    const left = keys.filter((name) => !name.startsWith('1')).sort()
    expect(map.keys()).toEqual(left)
    expect(map.range('0', '5').map(([key]) => key)).toEqual(left.filter((key) => key < '5'))
    for (const key of left) map.delete(key)
    expect(map.size).toBe(0)
    map.set('again', 1)
    expect(map.range('', '~')).toEqual([['again', 1]])
  })
})
