import { afterAll, describe, expect, it, vi } from 'vitest'
import { Redactor } from '../../../src/core/index.js'
import { OperationCount } from '../../support/operations.js'

const count = new OperationCount()
afterAll(() => count[Symbol.dispose]())

describe('reading a text of escapes for secrets', () => {
  const secret = 'pass"\\%word1'
  const redactor = new Redactor()
  redactor.know('env:SECRET', secret)
  const escapes = {
    backslashes: '\\',
    quotes: '\\"',
    units: '\\u005c',
    percents: '%25',
    'both kinds': '%5c\\u0025'
  }

  it.each(Object.entries(escapes))(
    'takes operations in proportion to its length, for %s',
    (_name, escaped) => {
      redactor.finds(`${escaped}${secret}`)
      const cost = (length: number) => {
        const half = escaped.repeat(length / escaped.length / 2)
        count.take()
        expect(redactor.places(`${half}${secret}${half}`)).not.toEqual([])
        return count.take() / length
      }
      const small = cost(20_000)
      expect(cost(80_000)).toBeLessThan(1.2 * small)
      expect(small).toBeLessThan(60)
    }
  )

  it('makes no object for each escape', () => {
    const execute = vi.spyOn(RegExp.prototype, 'exec')
    try {
      for (const escaped of Object.values(escapes)) redactor.finds(escaped.repeat(10_000) + secret)
      expect(execute.mock.calls.length).toBeLessThan(100)
    } finally {
      execute.mockRestore()
    }
  })
})
