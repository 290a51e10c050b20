import { isJsonObject, type Json, sha256 } from '../../core/index.js'
import { InvalidArgument } from '../invalid-argument.js'
import { base58Bytes } from './base58.js'

/** Bytes of a packet of the network: no transaction is longer, and so no data. */
const WIRE_BYTES_MAX = 1_232
const ADDRESS_LETTERS_MAX = 44

/**
 * The bytes that a value stands for. A text is `0x` and hex, `base58:` or `base64:` and as many
 * letters; a list is either of bytes, or of items that follow each other, each an object with one
 * key, its type: `{u64: "5"}`. Whole numbers are little-endian, as programs read them.
 */
export function layoutBytes(value: Json, path: string): Uint8Array {
  if (typeof value === 'string') return textBytes(value, path)
  if (Array.isArray(value)) {
    if (value.length > WIRE_BYTES_MAX) throw new InvalidArgument(path, 'is too long')
    const isBytes = value.length > 0 && value.every((one) => typeof one === 'number')
    return isBytes ? numbersIn(value, path) : joined(itemsIn(value, path), path)
  }
  return itemBytes(value, path)
}

/** Bytes in front of the data: written out, or `anchor`: by the name of the instruction. */
export function discriminatorBytes({
  discriminator,
  instruction
}: {
  readonly discriminator?: string
  readonly instruction: string
}): Uint8Array {
  if (discriminator === undefined) return new Uint8Array()
  if (discriminator === 'anchor') return sha256(`global:${instruction}`).subarray(0, 8)
  return textBytes(discriminator, 'discriminator')
}

/** An address as its 32 bytes. */
export function addressBytes(text: Json | undefined, path: string): Uint8Array {
  const isText = typeof text === 'string' && text.length <= ADDRESS_LETTERS_MAX
  const bytes = isText ? base58Bytes(text) : undefined
  if (bytes?.length !== 32) throw new InvalidArgument(path, 'is not an address')
  return bytes
}

export function textBytes(text: string, path: string): Uint8Array {
  if (text === '') return new Uint8Array()
  if (text.length > 2 * WIRE_BYTES_MAX) throw new InvalidArgument(path, 'is too long')
  if (/^0x([0-9a-fA-F]{2})*$/.test(text)) return Uint8Array.from(Buffer.from(text.slice(2), 'hex'))
  const written = /^(base58|base64):(.+)$/.exec(text)
  if (written !== null) {
    const [, base, letters = ''] = written
    const bytes = base === 'base58' ? base58Bytes(letters) : base64Bytes(letters)
    if (bytes === undefined) throw new InvalidArgument(path, `is not ${base}`)
    return bytes
  }
  // A bare text could be hex, base58 or base64, which are other bytes each.
  throw new InvalidArgument(path, 'is neither 0x-hex, nor base58: or base64: and letters')
}

function base64Bytes(letters: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/=]+$/.test(letters)) return undefined
  return Uint8Array.from(Buffer.from(letters, 'base64'))
}

function numbersIn(list: readonly Json[], path: string): Uint8Array {
  return Uint8Array.from(list, (one) => {
    const isByte = Number.isInteger(one) && Number(one) >= 0 && Number(one) <= 255
    if (!isByte) throw new InvalidArgument(path, 'holds a number that is no byte')
    return Number(one)
  })
}

function itemsIn(list: readonly Json[], path: string): readonly Uint8Array[] {
  return list.map((one, index) => itemBytes(one, `${path}.${index}`))
}

function joined(parts: readonly Uint8Array[], path: string): Uint8Array {
  const bytes = Uint8Array.from(Buffer.concat(parts))
  if (bytes.length > WIRE_BYTES_MAX) throw new InvalidArgument(path, 'is too long')
  return bytes
}

function itemBytes(item: Json, path: string): Uint8Array {
  const [entry, ...more] = isJsonObject(item) ? Object.entries(item) : []
  if (entry === undefined || more.length > 0) {
    throw new InvalidArgument(path, 'is not an item like {"u64": "5"}')
  }
  const [type, value] = entry
  const at = `${path}.${type}`
  const whole = /^([ui])(8|16|32|64|128)$/.exec(type)
  if (whole !== null) return integerBytes(value, whole[1] === 'i', Number(whole[2]), at)
  switch (type) {
    case 'bool':
      if (typeof value !== 'boolean') throw new InvalidArgument(at, 'is neither true nor false')
      return Uint8Array.of(value ? 1 : 0)
    case 'pubkey':
      return addressBytes(value, at)
    case 'bytes':
      return layoutBytes(value, at)
    case 'utf8':
      return utf8Bytes(value, at)
    case 'string':
      return withLength(utf8Bytes(value, at))
    case 'blob':
      return withLength(layoutBytes(value, at))
    case 'option':
      if (value === null) return Uint8Array.of(0)
      return joined([Uint8Array.of(1), itemBytes(value, at)], at)
    case 'vec': {
      if (!Array.isArray(value)) throw new InvalidArgument(at, 'is not a list')
      const count = integerBytes(value.length, false, 32, at)
      return joined([count, ...itemsIn(value, at)], at)
    }
    default:
      throw new InvalidArgument(path, `has the unknown type ${type.slice(0, 32)}`)
  }
}

function utf8Bytes(value: Json, path: string): Uint8Array {
  if (typeof value === 'string') return Uint8Array.from(Buffer.from(value, 'utf8'))
  throw new InvalidArgument(path, 'is not a text')
}

function withLength(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(Buffer.concat([integerBytes(bytes.length, false, 32, ''), bytes]))
}

function integerBytes(value: Json, isSigned: boolean, bits: number, path: string): Uint8Array {
  const isText = typeof value === 'string' && /^-?(0|[1-9][0-9]{0,38})$/.test(value)
  if (!isText && !Number.isSafeInteger(value)) {
    throw new InvalidArgument(path, 'is not a whole number, as a decimal string')
  }
  const integer = BigInt(value as string | number)
  const low = isSigned ? -(2n ** BigInt(bits - 1)) : 0n
  const high = 2n ** BigInt(isSigned ? bits - 1 : bits)
  if (integer < low || integer >= high) {
    throw new InvalidArgument(path, `does not fit ${isSigned ? 'i' : 'u'}${bits}`)
  }
  return littleEndian(BigInt.asUintN(bits, integer), bits / 8)
}

/** A number that is not negative, lowest byte first. */
export function littleEndian(value: bigint, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, index) =>
    Number((value >> BigInt(8 * index)) & 0xffn)
  )
}
