import { assert } from '../../core/index.js'

/**
 * Adds a meter to a WebAssembly module: every function and every turn of a loop takes a step from
 * a global, bulk operations one for every {@link BYTES_A_STEP_BITS 128 bytes}, and the module traps
 * where none is left. So everything is counted that the engine does, its built-ins in C included,
 * and the count depends on the bytes of the module and its memory alone.
 *
 * The module is rewritten and not run: the same bytes give the same bytes.
 */

/** A bulk operation takes a step for every 2 ** 7 bytes. */
const BYTES_A_STEP_BITS = 7

/** What the module's own start may take, as a signed number of variable length: 2 ** 24 - 1. */
const STARTING_STEPS = [0xff, 0xff, 0xff, 0x07] as const

const sectionIds = { type: 1, function: 3, global: 6, export: 7, code: 10 } as const

interface Section {
  readonly id: number
  readonly start: number
  readonly end: number
}

/** Reads from `bytes` as the binary format of WebAssembly writes. */
class Reader {
  readonly bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  byte(): number {
    const byte = this.bytes[this.at]
    assert(byte !== undefined, 'a module ends with its last section')
    this.at += 1
    return byte
  }

  unsigned(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte()
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }

  /** Passes a number of variable length. */
  pass(count = 1): void {
    for (let left = count; left > 0; left -= 1) while (this.byte() >= 128);
  }

  passList(): void {
    this.pass(this.unsigned())
  }
}

/** Bytes that are written piece by piece. */
class Writer {
  #bytes: Uint8Array
  #length = 0

  constructor(sizeBytes: number) {
    this.#bytes = new Uint8Array(sizeBytes)
  }

  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  bytes(bytes: Uint8Array | readonly number[]): void {
    if (this.#length + bytes.length > this.#bytes.length) {
      const wider = new Uint8Array(2 * (this.#length + bytes.length))
      wider.set(this.written)
      this.#bytes = wider
    }
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  unsigned(value: number): void {
    this.bytes(unsigned(value))
  }

  sized(bytes: Uint8Array): void {
    this.unsigned(bytes.length)
    this.bytes(bytes)
  }
}

function unsigned(value: number): readonly number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return [...bytes, rest]
}

const op = {
  unreachable: 0x00,
  loop: 0x03,
  if: 0x04,
  end: 0x0b,
  localGet: 0x20,
  localTee: 0x22,
  globalGet: 0x23,
  globalSet: 0x24,
  i64Const: 0x42,
  i64LessThan: 0x53,
  i64Minus: 0x7d,
  i64ShiftRight: 0x88,
  i64FromI32: 0xad
} as const
const typeOf = { i32: 0x7f, i64: 0x7e, none: 0x40 } as const

/** The module with its meter, an exported global of 64 bits with the name `meterName`. */
export function meteredWasm(wasm: Uint8Array, meterName: string): Uint8Array {
  const sections = sectionsOf(wasm)
  const meter = unsigned(countIn(wasm, sections, sectionIds.global))
  const parameters = parametersOf(wasm, sections)
  const written = new Writer(wasm.length * 2)
  written.bytes(wasm.subarray(0, 8))
  for (const { id, start, end } of sections) {
    written.bytes([id])
    const body = wasm.subarray(start, end)
    if (id === sectionIds.global) {
      written.sized(withOneMore(body, [typeOf.i64, 1, op.i64Const, ...STARTING_STEPS, op.end]))
    } else if (id === sectionIds.export) {
      const name = new TextEncoder().encode(meterName)
      written.sized(withOneMore(body, [...unsigned(name.length), ...name, 3, ...meter]))
    } else if (id === sectionIds.code) {
      written.sized(meteredCode(body, parameters, meter))
    } else written.sized(body)
  }
  return written.written.slice()
}

function sectionsOf(wasm: Uint8Array): readonly Section[] {
  const sections: Section[] = []
  for (const reader = new Reader(wasm, 8); reader.at < wasm.length; ) {
    const id = reader.byte()
    const length = reader.unsigned()
    sections.push({ id, start: reader.at, end: reader.at + length })
    reader.at += length
  }
  return sections
}

function readerOf(wasm: Uint8Array, sections: readonly Section[], id: number): Reader {
  const section = sections.find((one) => one.id === id)
  assert(section !== undefined, `the engine has a section ${id}`)
  return new Reader(wasm, section.start)
}

function countIn(wasm: Uint8Array, sections: readonly Section[], id: number): number {
  return readerOf(wasm, sections, id).unsigned()
}

/** How many parameters each function has that is not imported. */
function parametersOf(wasm: Uint8Array, sections: readonly Section[]): readonly number[] {
  const types = readerOf(wasm, sections, sectionIds.type)
  const counts = Array.from({ length: types.unsigned() }, () => {
    assert(types.byte() === 0x60, 'a type is one of a function')
    const count = types.unsigned()
    types.pass(count)
    types.pass(types.unsigned())
    return count
  })
  const functions = readerOf(wasm, sections, sectionIds.function)
  return Array.from({ length: functions.unsigned() }, () => counts[functions.unsigned()] ?? 0)
}

/** A section with a list, and one more at its end. */
function withOneMore(body: Uint8Array, more: readonly number[]): Uint8Array {
  const reader = new Reader(body)
  const count = reader.unsigned()
  return Uint8Array.from([...unsigned(count + 1), ...body.subarray(reader.at), ...more])
}

function meteredCode(
  body: Uint8Array,
  parameters: readonly number[],
  meter: readonly number[]
): Uint8Array {
  const reader = new Reader(body)
  const written = new Writer(body.length * 2)
  written.unsigned(reader.unsigned())
  for (const count of parameters) {
    const length = reader.unsigned()
    const end = reader.at + length
    written.sized(meteredFunction(body.subarray(reader.at, end), count, meter))
    reader.at = end
  }
  return written.written
}

function meteredFunction(
  body: Uint8Array,
  parameters: number,
  meter: readonly number[]
): Uint8Array {
  const reader = new Reader(body)
  const written = new Writer(body.length * 2)
  const groups = reader.unsigned()
  let length = parameters
  for (let group = 0; group < groups; group += 1) {
    length += reader.unsigned()
    reader.at += 1
  }
  const groupsStart = new Reader(body)
  groupsStart.pass()
  written.unsigned(groups + 1)
  written.bytes(body.subarray(groupsStart.at, reader.at))
  written.bytes([1, typeOf.i32])
  const sizeLocal = unsigned(length)
  const take = (steps: readonly number[]) => [
    ...[op.globalGet, ...meter, ...steps, op.i64Minus, op.globalSet, ...meter],
    ...[op.globalGet, ...meter, op.i64Const, 0, op.i64LessThan],
    ...[op.if, typeOf.none, op.unreachable, op.end]
  ]
  const takeOne = take([op.i64Const, 1])
  // Keeps the size on the stack.
  const takeSize = [
    ...[op.localTee, ...sizeLocal],
    ...take([
      ...[op.localGet, ...sizeLocal, op.i64FromI32],
      ...[op.i64Const, BYTES_A_STEP_BITS, op.i64ShiftRight]
    ])
  ]
  written.bytes(takeOne)
  let copied = reader.at
  while (reader.at < body.length) {
    const start = reader.at
    const code = reader.byte()
    if (code === 0xfc && isSized(reader)) {
      written.bytes(body.subarray(copied, start))
      written.bytes(takeSize)
      copied = start
    } else if (code !== 0xfc) passImmediates(reader, code)
    if (code === op.loop) {
      written.bytes(body.subarray(copied, reader.at))
      written.bytes(takeOne)
      copied = reader.at
    }
  }
  written.bytes(body.subarray(copied))
  return written.written
}

/** Passes an operation of many bytes; whether it is one whose size lies on the stack. */
function isSized(reader: Reader): boolean {
  const code = reader.unsigned()
  assert(code <= 11, 'the engine has no operation on tables')
  if (code === 8 || code === 10) reader.pass(2)
  else if (code === 9 || code === 11) reader.pass()
  return code === 8 || code >= 10
}

function passImmediates(reader: Reader, code: number): void {
  if (code === 0x0e) {
    reader.passList()
    reader.pass()
  } else if (code === 0x43) reader.at += 4
  else if (code === 0x44) reader.at += 8
  else if (code === 0x11 || (code >= 0x28 && code <= 0x3e)) reader.pass(2)
  else if (code >= 0x02 && code <= 0x04) reader.pass()
  else if (code === 0x0c || code === 0x0d || code === 0x10) reader.pass()
  else if ((code >= 0x20 && code <= 0x24) || (code >= 0x3f && code <= 0x42)) reader.pass()
  else assert(hasNoImmediates(code), `the engine has no operation ${code}`)
}

function hasNoImmediates(code: number): boolean {
  return (
    code <= 0x01 ||
    code === 0x05 ||
    code === op.end ||
    code === 0x0f ||
    code === 0x1a ||
    code === 0x1b ||
    (code >= 0x45 && code <= 0xc4)
  )
}
