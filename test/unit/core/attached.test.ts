import { expect, it } from 'vitest'
import { Attached } from '../../../src/core/attached.js'

it('keeps a value for each object, and shows it to no one who lists its members', () => {
  const [names, ages] = [new Attached<object, string>(), new Attached<object, number>()]
  const [one, other] = [{ known: true }, { known: true }]
  names.set(one, 'Ada')
  ages.set(one, 36)
  names.set(other, 'Grace')
  expect([names.get(one), ages.get(one)]).toEqual(['Ada', 36])
  expect([names.get(other), ages.get(other)]).toEqual(['Grace', undefined])
  expect(Object.keys(one)).toEqual(['known'])
})
