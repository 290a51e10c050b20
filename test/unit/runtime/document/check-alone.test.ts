import { describe, expect, it } from 'vitest'
import { readDocument } from '../../../../src/core/index.js'
import { checkAlone } from '../../../../src/runtime/document/check-alone.js'
import { parseDocument } from '../../../../src/runtime/document/parse-document.js'

const checked = async (nodes: string, rest = 'transitions: { price: pay }') => {
  const text = `schema: tally-composite/1
name: checkout
version: 1.0.0
entry_point: price
nodes:
${nodes}
${rest}`
  const parsed = await parseDocument(readDocument(text))
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics))
  const { diagnostics, names } = await checkAlone(parsed.definition)
  return { found: diagnostics.map(({ path, message }) => `${path.join('.')}: ${message}`), names }
}

describe('a document without a configuration', () => {
  it('has its expressions and the shapes of its values checked', async () => {
    const { found } = await checked(
      `  price: { block: shop.price, input: { cel: 'request.payload.x +' } }
  pay: { block: shop.pay, input: { cell: x } }`,
      "transitions: { price: [{ condition: { cel: 'response.data.total >' }, target: pay }] }"
    )
    expect(found.map((one) => one.split(':')[0])).toEqual(
      expect.arrayContaining([
        'nodes.price.input',
        'nodes.pay.input',
        'transitions.price.0.condition'
      ])
    )
  })

  it('has references that lead nowhere found, wherever they stand', async () => {
    const { found } = await checked(
      `  price: { block: shop.price, confirm: { when: { cel: 'request.payloads.x > 1' } } }
  pay:
    block: shop.pay
    input:
      object:
        total: { cel: 'nodes.prise.response.data.total' }
        other: { ref: nodes.price.data.total }
        data: { ref: nodes.price.response.date }
        good: { ref: nodes.price.response.data.total }`,
      `transitions: { price: [{ condition: { cel: 'response.dat == 1' }, target: pay }] }
output: { ref: nodes.gone.response }`
    )
    expect(found.toSorted()).toEqual([
      expect.stringMatching(/^nodes.pay.input: nodes.price.data leads nowhere/),
      expect.stringMatching(/^nodes.pay.input: nodes.price.response.date leads nowhere/),
      expect.stringMatching(/^nodes.pay.input: nodes.prise leads nowhere: no node/),
      expect.stringMatching(/^nodes.price.confirm.when: request.payloads leads nowhere/),
      expect.stringMatching(/^output: nodes.gone leads nowhere/),
      expect.stringMatching(/^transitions.price.0.condition: response.dat leads nowhere/)
    ])
  })

  it('has each name listed that only a configuration can tell of', async () => {
    const { found, names } = await checked(
      `  price: { block: shop.price, recovery: [{ repair: mend }, { fallback: [shop.other] }] }
  pay: { use: shop.payments }`,
      `transitions:
  price: [{ condition: cheap, target: pay }, { condition: default, target: pay }]`
    )
    expect(found).toEqual([])
    expect(names).toEqual({
      blocks: ['shop.other', 'shop.price'],
      conditions: ['cheap'],
      documents: ['shop.payments'],
      repairs: ['mend']
    })
  })
})
