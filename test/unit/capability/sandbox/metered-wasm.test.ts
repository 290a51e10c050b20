import { describe, expect, it } from 'vitest'
import { meteredWasm } from '../../../../src/capability/sandbox/metered-wasm.js'

/** Modules that are written by hand, with one function of a body that the test chooses. */

const i32 = 0x7f
const end = 0x0b

interface Written {
  /** Instructions, without the `end` of the function. */
  readonly body: readonly number[]
  /** Types of its parameters. */
  readonly parameters?: readonly number[]
  /** Groups of locals: how many, of which type. */
  readonly locals?: readonly (readonly [count: number, type: number])[]
  readonly results?: readonly number[]
}

function section(id: number, content: readonly number[]): readonly number[] {
  expect(content.length).toBeLessThan(128 * 128)
  return [id, (content.length % 128) | 0x80, Math.floor(content.length / 128), ...content]
}

const sized = (bytes: readonly number[]) => [
  (bytes.length % 128) | 0x80,
  Math.floor(bytes.length / 128),
  ...bytes
]

const named = (name: string) => [name.length, ...new TextEncoder().encode(name)]

function moduleOf({ body, parameters = [], locals = [], results = [i32] }: Written): Uint8Array {
  const code = [locals.length, ...locals.flat(), ...body, end]
  const plain = [1, 0x41, 7, 0x1a, end]
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    // The second type is that of the second function, which takes nothing and gives nothing.
    ...section(1, [
      2,
      0x60,
      parameters.length,
      ...parameters,
      results.length,
      ...results,
      0x60,
      0,
      0
    ]),
    ...section(3, [2, 0, 1]),
    ...section(4, [1, 0x70, 0, 2]),
    ...section(5, [1, 0, 1]),
    ...section(6, [1, i32, 1, 0x41, 5, end]),
    ...section(7, [2, ...named('run'), 0, 0, ...named('memory'), 2, 0]),
    ...section(9, [1, 0, 0x41, 0, end, 2, 0, 1]),
    ...section(12, [4]),
    ...section(10, [2, ...sized(code), ...sized([0, ...plain.slice(1)])]),
    ...section(11, [4, ...[1, 1, 1].flatMap((kind) => [kind, 0]), 1, 4, 9, 8, 7, 6])
  ])
}

interface Running {
  run(...given: readonly number[]): unknown
  readonly meter: { value: bigint }
  readonly memory: { readonly buffer: ArrayBuffer }
}

declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}

function instanceOf(bytes: Uint8Array): Running {
  return new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports as Running
}

function running(written: Written): Running {
  return instanceOf(meteredWasm(moduleOf(written), 'meter'))
}

/** What it gives, and how many steps that takes. */
function stepsOf(written: Written, ...given: readonly number[]) {
  const { run, meter } = running(written)
  const before = meter.value
  const result = run(...given)
  return { result, steps: Number(before - meter.value) }
}

const count = (n: number) => [0x41, n] as const
/** A local that is counted down to zero by a loop. */
const loop = [...[0x03, 0x40, 0x20, 0, ...count(1), 0x6b, 0x22, 0, 0x0d, 0, end], ...[0x20, 0]]

describe('a module with its meter', () => {
  it('begins with the steps that its start may take, under the name that was asked for', () => {
    const bytes = meteredWasm(moduleOf({ body: count(3) }), 'steps_left')
    const { steps_left: left, meter } = instanceOf(bytes) as unknown as Record<
      string,
      Running['meter']
    >
    expect(left?.value).toBe(2n ** 24n - 1n)
    expect(meter).toBeUndefined()
  })

  it('is the same for the same bytes, and leaves them alone', () => {
    const bytes = moduleOf({ body: loop, parameters: [i32] })
    const before = bytes.slice()
    expect(meteredWasm(bytes, 'meter')).toEqual(meteredWasm(bytes, 'meter'))
    expect(bytes).toEqual(before)
  })

  it('takes a step for a function', () => {
    expect(stepsOf({ body: count(3) })).toEqual({ result: 3, steps: 1 })
  })

  it('takes one for each function that is called, directly or through a table', () => {
    expect(stepsOf({ body: [0x10, 1, 0x10, 1, ...count(3)] })).toEqual({ result: 3, steps: 3 })
    const indirect = [...count(1), 0x11, 1, 0, ...count(3)]
    expect(stepsOf({ body: indirect })).toEqual({ result: 3, steps: 2 })
  })

  it.each([1, 2, 100, 5000])('takes one for each of %i turns of a loop', (turns) => {
    const written = { body: loop, parameters: [i32] }
    expect(stepsOf(written, turns)).toEqual({ result: 0, steps: 1 + turns })
  })

  it('takes them for a loop in a loop, and behind other blocks', () => {
    const inner = [0x03, 0x40, 0x20, 1, ...count(1), 0x6b, 0x22, 1, 0x0d, 0, end]
    const body = [
      ...[0x02, 0x40, end, ...count(1), 0x04, 0x40, 0x05, end],
      ...[0x01, 0x03, 0x40, ...count(3), 0x21, 1, ...inner],
      ...[0x20, 0, ...count(1), 0x6b, 0x22, 0, 0x0d, 0, end, 0x20, 0]
    ]
    const written = { body, parameters: [i32], locals: [[1, i32]] as const }
    expect(stepsOf(written, 4)).toEqual({ result: 0, steps: 1 + 4 + 4 * 3 })
  })

  const fill = [...count(0), ...count(5), 0x20, 0, 0xfc, 11, 0, ...count(1)]
  const copy = [...count(0), 0x41, 0x80, 0x80, 0x01, 0x20, 0, 0xfc, 10, 0, 0, ...count(1)]
  it.each([
    [0, 0],
    [127, 0],
    [128, 1],
    [129, 1],
    [16_384, 128]
  ])('takes one for every 128 bytes that are filled or copied: %i', (size, steps) => {
    expect(stepsOf({ body: fill, parameters: [i32] }, size)).toEqual({
      result: 1,
      steps: 1 + steps
    })
    expect(stepsOf({ body: copy, parameters: [i32] }, size)).toEqual({
      result: 1,
      steps: 1 + steps
    })
  })

  it('fills, copies and takes from its data what it did without a meter', () => {
    const body = [
      ...[...count(8), ...count(5), 0x20, 0, 0xfc, 11, 0],
      ...[...count(20), ...count(0), ...count(4), 0xfc, 8, 3, 0],
      ...[...count(16), ...count(20), ...count(3), 0xfc, 10, 0, 0],
      ...[0xfc, 9, 3, ...count(2)]
    ]
    const written = {
      body,
      parameters: [i32],
      locals: [
        [2, i32],
        [1, 0x7e]
      ] as const
    }
    const bytes = moduleOf(written)
    const [plain, metered] = [instanceOf(bytes), instanceOf(meteredWasm(bytes, 'meter'))]
    for (const one of [plain, metered]) expect(one.run(6)).toBe(2)
    const wanted = [5, 5, 5, 5, 5, 5, 0, 0, 9, 8, 7, 0, 9, 8, 7, 6, 0]
    for (const { memory } of [plain, metered]) {
      expect([...new Uint8Array(memory.buffer, 8, wanted.length)]).toEqual(wanted)
    }
  })

  it('counts what is taken from its data', () => {
    const init = [...count(0), ...count(0), 0x20, 0, 0xfc, 8, 3, 0, ...count(1)]
    expect(stepsOf({ body: init, parameters: [i32] }, 4)).toEqual({ result: 1, steps: 1 })
    const { run, meter } = running({ body: init, parameters: [i32] })
    const before = meter.value
    // It takes the steps before it finds that there is not so much.
    expect(() => run(1280)).toThrow('out of bounds')
    expect(before - meter.value).toBe(11n)
  })

  it('traps where no step is left, before anything is done', () => {
    const { run, meter, memory } = running({ body: fill, parameters: [i32] })
    meter.value = 9n
    expect(() => run(128 * 9)).toThrow('unreachable')
    expect(new Uint8Array(memory.buffer)[0]).toBe(0)
    meter.value = 10n
    expect(run(128 * 9)).toBe(1)
    expect(meter.value).toBe(0n)
    expect(() => run(0)).toThrow('unreachable')
  })

  it('passes what numbers and addresses are made of, which may look like a loop', () => {
    const nothing = [0x1a] as const
    const looksLikeLoop = [0x83, 0x83, 0x83, 0x03]
    const body = [
      ...[0x41, ...looksLikeLoop, ...nothing, 0x42, ...looksLikeLoop, ...nothing],
      ...[0x43, 0x03, 0x40, 0x03, 0x40, ...nothing],
      ...[0x44, 0x03, 0x40, 0x03, 0x40, 0x03, 0x40, 0x03, 0x40, ...nothing],
      // Every load and store, at an address of its own.
      ...range(0x28, 0x35).flatMap((code) => [...count(0), code, 0, 3, ...nothing]),
      ...[...count(0), ...count(3), 0x36, 2, 3],
      ...[...count(0), 0x42, 3, 0x37, 3, 3],
      ...[...count(0), 0x43, 3, 3, 3, 3, 0x38, 2, 3],
      ...[...count(0), 0x44, 3, 3, 3, 3, 3, 3, 3, 3, 0x39, 3, 3],
      ...[0x3a, 0x3b].flatMap((code) => [...count(0), ...count(3), code, 0, 3]),
      ...[0x3c, 0x3d, 0x3e].flatMap((code) => [...count(0), 0x42, 3, code, 0, 3]),
      ...[0x3f, 0, ...nothing, ...count(0), 0x40, 0, ...nothing],
      ...[...count(3), 0x21, 3, 0x20, 3, 0x22, 3, 0x24, 0, 0x23, 0, ...nothing],
      // A table of jumps, with as many targets as a loop has for its code.
      ...[0x02, 0x40, 0x02, 0x40, 0x02, 0x40, ...count(1), 0x0e, 3, 0, 1, 2, 0, end, end, end],
      ...[0x02, 0x40, 0x0c, 0, end, 0x02, 0x40, ...count(0), 0x0d, 0, end],
      ...[0x01, ...count(1), ...count(2), ...count(0), 0x1b, ...nothing],
      // The first and the last operation without anything behind it.
      ...[...count(0), 0x45, ...nothing, 0x42, 0, 0xc4, ...nothing],
      ...[...count(7), 0x0f]
    ]
    const locals = [[4, i32]] as const
    expect(stepsOf({ body, locals })).toEqual({ result: 7, steps: 1 })
  })

  it('counts in a function that ends with what is never reached', () => {
    expect(() => stepsOf({ body: [0x00] })).toThrow('unreachable')
  })

  it.each([127, 128, 300])('takes a name of %i bytes, and a long module', (length) => {
    const name = 'm'.repeat(length)
    const body = [...Array.from({ length: 3000 }, () => [...count(1), 0x1a]).flat(), ...count(4)]
    const { [name]: meter, run } = instanceOf(
      meteredWasm(moduleOf({ body }), name)
    ) as unknown as Record<string, Running['meter']> & Running
    expect(run()).toBe(4)
    expect(meter?.value).toBe(2n ** 24n - 2n)
  })

  it.each([
    ['an operation on tables', [0xfc, 12, 0, 0], 'the engine has no operation on tables'],
    ['another one', [0xfc, 17, 0], 'the engine has no operation on tables'],
    ['exceptions', [0x06, 0x40, end], 'the engine has no operation 6'],
    ['a call at the end', [0x12, 0], 'the engine has no operation 18'],
    ['a select of types', [0x1c, 1, i32], 'the engine has no operation 28'],
    ['a table', [0x25, 0], 'the engine has no operation 37'],
    ['the one behind the last', [0xc5], 'the engine has no operation 197'],
    ['vectors', [0xfd, 0], 'the engine has no operation 253'],
    ['the one before a block’s end', [0x0a], 'the engine has no operation 10']
  ])('is not made of a module with %s', (_, body, problem) => {
    expect(() => meteredWasm(moduleOf({ body }), 'meter')).toThrow(problem)
  })

  it('is not made of what is no whole module', () => {
    const bytes = moduleOf({ body: count(3) })
    // The module ends behind its first section.
    const cut = bytes.slice(0, 8 + 3 + (bytes[9] ?? 0) - 128)
    expect(() => meteredWasm(cut, 'meter')).toThrow('the engine has a section 6')
    expect(() => meteredWasm(bytes.slice(0, 9), 'meter')).toThrow('ends with its last section')
    const otherType = bytes.slice()
    otherType[12] = 0x5f
    expect(() => meteredWasm(otherType, 'meter')).toThrow('a type is one of a function')
  })
})

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, place) => first + place)
}
