import fc from 'fast-check'
import {
  encodeAbiParameters,
  encodeFunctionData,
  keccak256 as reference,
  toFunctionSelector,
  toHex
} from 'viem'
import { describe, expect, it } from 'vitest'
import {
  type AbiPlain,
  parametersOf,
  plainArguments,
  plainParameters
} from '../../../../src/executor/evm/call-data.js'
import { keccak256 } from '../../../../src/executor/evm/keccak.js'
import { selectorOf, signatureOf } from '../../../../src/executor/evm/selector.js'
import { evmCalls } from '../../../../src/workflow/policy/evm-calls.js'

/** The coder of viem is the second opinion on everything here. */

const leaf = fc.constantFrom('uint256', 'uint8', 'address', 'bool', 'bytes32', 'bytes', 'uint160')
const { type } = fc.letrec<{ type: string }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    leaf,
    tie('type').map((inner) => `${inner}[]`),
    tie('type').map((inner) => `${inner}[2]`),
    fc.array(tie('type'), { minLength: 1, maxLength: 3 }).map((all) => `(${all.join(',')})`)
  )
}))
const types = fc.array(type, { maxLength: 4 })

/** Values of a parameter, from a stream of numbers. */
function plainOf(parameter: ReturnType<typeof parametersOf>[number], next: () => number): AbiPlain {
  const list = /^(.*)\[([0-9]*)\]$/.exec(parameter.type)
  if (list !== null) {
    const length = list[2] === '' ? next() % 3 : Number(list[2])
    const item = { ...parameter, type: list[1] ?? '' }
    return Array.from({ length }, () => plainOf(item, next))
  }
  if (parameter.type === 'tuple') {
    return (parameter.components ?? []).map((one) => plainOf(one, next))
  }
  const whole = /^uint([0-9]+)$/.exec(parameter.type)
  if (whole !== null) return (BigInt(next()) * 12_345_678_901n) % 2n ** BigInt(whole[1] ?? '')
  if (parameter.type === 'bool') return next() % 2 === 0
  if (parameter.type === 'address') return toHex(next(), { size: 20 })
  if (parameter.type === 'bytes') return `0x${'ab'.repeat(next() % 70)}`
  return toHex(next(), { size: 32 })
}

describe('the bytes of calls', () => {
  it('are hashed as Ethereum hashes, at every length around a block', () => {
    for (const length of [0, 1, 55, 135, 136, 137, 271, 272, 1_000]) {
      const bytes = new Uint8Array(length).map((_, index) => index * 7)
      expect(`0x${Buffer.from(keccak256(bytes)).toString('hex')}`).toBe(reference(bytes))
    }
  })

  it('begin with the selector that the coder gives the same function', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-zA-Z_$][a-zA-Z0-9_$]{0,12}$/), types, (name, given) => {
        const inputs = parametersOf(`f(${given.join(',')})`)
        const signature = signatureOf(name, inputs)
        expect(signature).toBe(`${name}(${given.join(',')})`)
        expect(selectorOf(signature)).toBe(toFunctionSelector(signature))
      })
    )
  })

  it('of known functions have the selectors of the table', () => {
    for (const [selector, { signature }] of Object.entries(evmCalls)) {
      expect([signature, toFunctionSelector(signature)]).toEqual([signature, selector])
    }
  })

  it('are decoded to what was encoded, and to nothing where an end is missing', () => {
    fc.assert(
      fc.property(types, fc.array(fc.nat(), { minLength: 1 }), (given, numbers) => {
        let at = 0
        const next = () => numbers[at++ % numbers.length] ?? 0
        const parameters = parametersOf(`f(${given.join(',')})`)
        const values = parameters.map((one) => plainOf(one, next))
        const data = encodeAbiParameters(parameters as never, values as never).slice(2)
        expect(plainParameters(parameters, data)).toEqual(values)
        if (data === '') return
        expect(plainParameters(parameters, data.slice(0, -64))).toBeUndefined()
      })
    )
  })

  it('are not decoded where a value does not fit its type', () => {
    const word = 'f'.repeat(64)
    for (const one of ['address', 'bool', 'uint8', 'bytes', 'uint256[]', 'int256']) {
      expect([one, plainParameters(parametersOf(`f(${one})`), word)]).toEqual([one, undefined])
    }
    expect(plainParameters(parametersOf('f(uint256)'), 'ab')).toBeUndefined()
  })

  it('are what named arguments encode to', () => {
    const inputs = [
      { name: 'to', type: 'address' },
      { name: '', type: 'tuple', components: [{ name: 'amounts', type: 'uint256[]' }] }
    ]
    const to = `0x${'aB'.repeat(20)}`
    const values = plainArguments(inputs, { to, '1': { amounts: ['1', 2] } })
    expect(values).toEqual([to.toLowerCase(), [[1n, 2n]]])
    const abi = [{ type: 'function', name: 'f', inputs, outputs: [], stateMutability: 'view' }]
    const args = [to.toLowerCase(), { amounts: [1n, 2n] }]
    const data = encodeFunctionData({ abi, functionName: 'f', args })
    expect(plainParameters(inputs, data.slice(10))).toEqual(values)
    expect(plainArguments(inputs, { to })).toBeUndefined()
    expect(plainArguments(inputs, { to: 'me', '1': { amounts: [] } })).toBeUndefined()
  })
})
