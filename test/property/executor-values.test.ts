import fc from 'fast-check'
import * as accounts from 'viem/accounts'
import * as utils from 'viem/utils'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/core/index.js'
import type { AbiFunction, AbiParameter } from '../../src/executor/evm/abi-types.js'
import { decodeResult, encodeCall } from '../../src/executor/evm/coding.js'
import type { Hex } from '../../src/executor/evm/viem.js'

const viem = { ...utils, accounts }

interface Typed {
  readonly type: string
  readonly components?: readonly AbiParameter[]
  readonly value: Json
}

const bits = fc.integer({ min: 1, max: 32 }).map((bytes) => bytes * 8)
const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((array) => `0x${Buffer.from(array).toString('hex')}`)

const scalar: fc.Arbitrary<Typed> = fc.oneof(
  bits.chain((size) =>
    fc
      .bigInt({ min: 0n, max: 2n ** BigInt(size) - 1n })
      .map((value) => ({ type: `uint${size}`, value: value.toString() }))
  ),
  bits.chain((size) => {
    const half = 2n ** BigInt(size - 1)
    return fc
      .bigInt({ min: -half, max: half - 1n })
      .map((value) => ({ type: `int${size}`, value: value.toString() }))
  }),
  fc.boolean().map((value) => ({ type: 'bool', value })),
  fc.string({ unit: 'grapheme' }).map((value) => ({ type: 'string', value: value.toWellFormed() })),
  hex(20).map((value) => ({ type: 'address', value: utils.getAddress(value) })),
  fc
    .integer({ min: 1, max: 32 })
    .chain((n) => hex(n).map((value) => ({ type: `bytes${n}`, value }))),
  fc.integer({ min: 0, max: 70 }).chain((n) => hex(n).map((value) => ({ type: 'bytes', value })))
)

const named = (items: readonly Typed[]): readonly AbiParameter[] =>
  items.map(({ type, components }, index) => ({
    name: `f${index}`,
    type,
    ...(components === undefined ? {} : { components })
  }))
const valuesOf = (items: readonly Typed[]): JsonObject =>
  Object.fromEntries(items.map(({ value }, index) => [`f${index}`, value]))

const anything: fc.Arbitrary<Typed> = fc.oneof(
  scalar,
  fc.array(scalar, { minLength: 1, maxLength: 4 }).map((items) => ({
    type: 'tuple',
    components: named(items),
    value: valuesOf(items)
  })),
  fc.tuple(scalar, fc.integer({ min: 0, max: 3 }), fc.boolean()).map(([one, length, isFixed]) => ({
    type: `${one.type}[${isFixed && length > 0 ? length : ''}]`,
    value: Array.from({ length }, () => one.value)
  }))
)

describe('values of contracts', () => {
  it('come back from their bytes as they were given', () => {
    fc.assert(
      fc.property(fc.array(anything, { minLength: 1, maxLength: 4 }), (items) => {
        const parameters = named(items)
        const abi: AbiFunction = {
          type: 'function',
          name: 'f',
          inputs: parameters,
          outputs: parameters,
          stateMutability: 'view'
        }
        const data = encodeCall(viem, abi, valuesOf(items))
        expect(decodeResult(viem, abi, `0x${data.slice(10)}` as Hex)).toEqual(valuesOf(items))
      }),
      { numRuns: process.env['SOAK'] === '1' ? 5_000 : 300 }
    )
  })

  it('are nothing when the bytes are anything', () => {
    const abi: AbiFunction = {
      type: 'function',
      name: 'f',
      inputs: [],
      outputs: [
        { name: 'list', type: 'uint256[]' },
        { name: 'text', type: 'string' }
      ],
      stateMutability: 'view'
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const data = `0x${Buffer.from(bytes).toString('hex')}` as Hex
        const decoded = decodeResult(viem, abi, data)
        expect(decoded === undefined || Array.isArray(decoded['list'])).toBe(true)
      })
    )
  })
})
