import fc from 'fast-check'
import { expect, it } from 'vitest'
import { itemsOf, RowsChange, rowsOf, withItem } from '../../../../src/block/chart/rows.js'

it('changes of a list under way are those of a list, and leave the one before as it is', () => {
  const size = 200
  // Behind all rows there is nothing to change.
  const places = fc.oneof(fc.nat(size - 1), fc.constantFrom(size + 64, size + 200))
  const changes = fc.array(fc.tuple(places, fc.nat(9)), { maxLength: 12 })
  fc.assert(
    fc.property(fc.array(changes, { maxLength: 4 }), (events) => {
      const model = Array.from({ length: size }, () => 0)
      let rows = rowsOf(model)
      for (const event of events) {
        const before = [rows, [...itemsOf(rows)]] as const
        const change = new RowsChange(rows)
        let oneByOne = rows
        for (const [place, item] of event) {
          change.set(place, item)
          oneByOne = withItem(oneByOne, place, item)
          if (place < size) model[place] = item
          expect(change.at(place)).toBe(place < size ? item : undefined)
        }
        rows = change.rows
        expect([...itemsOf(rows)]).toEqual(model)
        expect(rows).toEqual(oneByOne)
        expect([...itemsOf(before[0])]).toEqual(before[1])
      }
    })
  )
})

it('a list in which nothing is changed stays the one that it is', () => {
  const rows = rowsOf([1, 2, 3])
  const change = new RowsChange(rows)
  expect(change.rows).toBe(rows)
  change.set(64, 1)
  expect(change.rows).toBe(rows)
})
