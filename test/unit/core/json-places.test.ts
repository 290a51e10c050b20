import { afterAll, expect, it } from 'vitest'
import { placesIn } from '../../../src/core/index.js'
import { OperationCount } from '../../support/operations.js'

const count = new OperationCount()
afterAll(() => count[Symbol.dispose]())

it('a list in JSON is scanned once for the places of all its items', () => {
  const locate = placesIn(JSON.stringify({ list: Array(20_000).fill({ a: 0 }) }))
  const cost = (first: number) => {
    count.take()
    for (let index = first; index < first + 100; index += 1) locate(['list', index, 'a'])
    return count.take()
  }
  const scan = cost(15_000)
  expect(scan).toBeGreaterThan(20_000)
  expect(cost(10_000)).toBeLessThan(scan / 20)
})
