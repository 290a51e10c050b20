import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import { InvalidArgument } from '../invalid-argument.js'
import type { AbiParameter } from './abi-types.js'
import type { Viem as Library } from './viem.js'

/** What of the coder is needed: callers without it know addresses by their form. */
type Viem = Pick<Library, 'isAddress'>

/** Named arguments as the coder takes them: one value per parameter, nothing missing or extra. */
export function toAbiValues(
  viem: Viem,
  parameters: readonly AbiParameter[],
  args: JsonObject,
  path = 'args'
): readonly unknown[] {
  const names = parameters.map(({ name }, index) => nameOf(name, index))
  const extra = Object.keys(args).find((name) => !names.includes(name))
  if (extra !== undefined) throw new InvalidArgument(`${path}.${extra}`, 'is not in the ABI')
  return parameters.map((parameter, index) => {
    const name = nameOf(parameter.name, index)
    const value = Object.hasOwn(args, name) ? args[name] : undefined
    if (value === undefined) throw new InvalidArgument(`${path}.${name}`, 'is missing')
    return toAbiValue(viem, parameter, value, `${path}.${name}`)
  })
}

/** Decoded values by the names of their parameters: whole numbers as decimal strings. */
export function fromAbiValues(
  parameters: readonly AbiParameter[],
  values: readonly unknown[]
): JsonObject {
  return Object.fromEntries(
    parameters.map((parameter, index) => [
      nameOf(parameter.name, index),
      fromAbiValue(parameter, values[index])
    ])
  )
}

/** Parameters without a name go by their place, from 0. */
function nameOf(name: string, index: number): string {
  return name === '' ? String(index) : name
}

function toAbiValue(viem: Viem, parameter: AbiParameter, value: Json, path: string): unknown {
  const list = /^(.*)\[([0-9]*)\]$/.exec(parameter.type)
  if (list !== null) {
    const [, type = '', length = ''] = list
    if (!Array.isArray(value)) throw new InvalidArgument(path, 'is not a list')
    if (length !== '' && value.length !== Number(length)) {
      throw new InvalidArgument(path, `has not ${length} items`)
    }
    const item = { ...parameter, type }
    return value.map((one, index) => toAbiValue(viem, item, one, `${path}.${index}`))
  }
  if (parameter.type === 'tuple') {
    if (!isJsonObject(value)) throw new InvalidArgument(path, 'is not an object')
    const components = parameter.components ?? []
    const values = toAbiValues(viem, components, value, path)
    const isNamed = components.every(({ name }) => name !== '')
    // The coder wants unnamed components by their place.
    if (!isNamed) return values
    return Object.fromEntries(components.map(({ name }, index) => [name, values[index]]))
  }
  return toScalar(viem, parameter.type, value, path)
}

function toScalar(viem: Viem, type: string, value: Json, path: string): unknown {
  const whole = /^(u?)int([0-9]*)$/.exec(type)
  if (whole !== null) return toInteger(value, whole[1] === 'u', Number(whole[2] || '256'), path)
  if (type === 'bool') {
    if (typeof value !== 'boolean') throw new InvalidArgument(path, 'is neither true nor false')
    return value
  }
  if (typeof value !== 'string') throw new InvalidArgument(path, 'is not a text')
  if (type === 'string') return value
  if (type === 'address') {
    if (!viem.isAddress(value)) throw new InvalidArgument(path, 'is not an address')
    return value
  }
  const bytes = /^bytes([0-9]*)$/.exec(type)
  if (bytes === null) throw new InvalidArgument(path, `has the unknown type ${type}`)
  if (!/^0x([0-9a-fA-F]{2})*$/.test(value)) throw new InvalidArgument(path, 'is not 0x-hex')
  const size = bytes[1] ?? ''
  if (size !== '' && value.length !== 2 + 2 * Number(size)) {
    throw new InvalidArgument(path, `has not ${size} bytes`)
  }
  return value
}

function toInteger(value: Json, isUnsigned: boolean, bits: number, path: string): bigint {
  const isText = typeof value === 'string' && /^-?(0|[1-9][0-9]{0,77})$/.test(value)
  if (!isText && !Number.isSafeInteger(value)) {
    throw new InvalidArgument(path, 'is not a whole number, as a decimal string')
  }
  const integer = BigInt(value as string | number)
  const high = 2n ** BigInt(isUnsigned ? bits : bits - 1)
  const low = isUnsigned ? 0n : -high
  if (integer < low || integer >= high) {
    throw new InvalidArgument(path, `does not fit ${isUnsigned ? 'u' : ''}int${bits}`)
  }
  return integer
}

function fromAbiValue(parameter: AbiParameter, value: unknown): Json {
  const list = /^(.*)\[[0-9]*\]$/.exec(parameter.type)
  if (list !== null && Array.isArray(value)) {
    const item = { ...parameter, type: list[1] ?? '' }
    return value.map((one) => fromAbiValue(item, one))
  }
  if (parameter.type === 'tuple' && typeof value === 'object' && value !== null) {
    const components = parameter.components ?? []
    const values = components.map(({ name }, index) =>
      Array.isArray(value) ? value[index] : (value as Readonly<Record<string, unknown>>)[name]
    )
    return fromAbiValues(components, values)
  }
  if (typeof value === 'bigint' || typeof value === 'number') return value.toString()
  if (typeof value === 'boolean') return value
  // A contract may return bytes that are no text.
  return String(value).toWellFormed()
}
