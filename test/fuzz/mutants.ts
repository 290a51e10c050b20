import fc from 'fast-check'
import { canonicalize, isJsonObject, type Json } from '../../src/core/index.js'

/** Inputs that are close to valid ones: changes of their bytes, and of the JSON that is in them. */

/** Pieces that readers stumble over. */
const tokens: readonly Buffer[] = [
  ...['', '\n', '\r\n', '\0', '\u2028', '\ufeff', '"', '\\', '\\u0000', '\\ud800', '{', '}', '['],
  ...[']', ',', ':', ' ', '\t', '-', '-0', '1e999', '1e-400', '9007199254740993', '0x', '00', '.'],
  ...['null', 'true', '{}', '[]', '""', '"__proto__":{}', '"constructor":1', '"toString":1', '&a'],
  ...[
    '*a',
    '!!js/function',
    '<<: *a',
    '---\n',
    '...\n',
    '# ',
    '- ',
    '? ',
    '| \n',
    'data: ',
    '\u2014 '
  ],
  ...[
    '[DONE]',
    '0'.repeat(64),
    'f'.repeat(40),
    '[['.repeat(600),
    '{"a":'.repeat(600),
    'x'.repeat(3_000)
  ]
]
  .map((text) => Buffer.from(text))
  .concat([Buffer.from([0xff]), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from([0xc0, 0x80])])

const oddities: readonly Json[] = [
  ...[null, true, false, 0, -0, 1, -1, 0.5, 2 ** 53, -(2 ** 53), 1e21, 1e308, 5e-324, '', ' ', 'x'],
  ...[
    '\0',
    '\ud800',
    '__proto__',
    'constructor',
    '1e999',
    '-1',
    '0x',
    '0x0',
    '../..',
    'x'.repeat(5_000)
  ],
  ...[[], {}, [[]], [null], { a: 1 }, { toString: 1 }, { length: -1 }, { $blob: 'x' }],
  JSON.parse('{"then":1}'),
  JSON.parse('{"__proto__":{"polluted":1}}'),
  JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`),
  Array.from({ length: 300 }, (_, index) => index)
]
const names = [
  '__proto__',
  'constructor',
  'toString',
  'x',
  '',
  'id',
  'version',
  'a.b',
  '$type',
  '\0'
]

const place = fc.nat(0xffff)
type Change =
  | { readonly do: 'flip'; readonly at: number; readonly bit: number }
  | { readonly do: 'remove' | 'cut'; readonly at: number; readonly to: number }
  | { readonly do: 'insert' | 'replace'; readonly at: number; readonly token: number }
  | { readonly do: 'repeat'; readonly at: number; readonly to: number; readonly times: number }
  | { readonly do: 'splice'; readonly at: number; readonly seed: number; readonly from: number }
  | {
      readonly do: 'set' | 'drop' | 'twice' | 'rename' | 'move'
      readonly at: number
      readonly with: number
    }

const ofBytes: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ do: fc.constant('flip' as const), at: place, bit: fc.nat(7) }),
  fc.record({ do: fc.constantFrom('remove' as const, 'cut' as const), at: place, to: place }),
  fc.record({
    do: fc.constantFrom('insert' as const, 'replace' as const),
    at: place,
    token: fc.nat(tokens.length - 1)
  }),
  fc.record({ do: fc.constant('repeat' as const), at: place, to: place, times: fc.nat(40) }),
  fc.record({ do: fc.constant('splice' as const), at: place, seed: place, from: place })
)
const ofValues: fc.Arbitrary<Change> = fc.record({
  do: fc.constantFrom(
    ...(['set', 'set', 'set', 'drop', 'twice', 'rename', 'move', 'move'] as const)
  ),
  at: place,
  with: place
})
/** Text that is no JSON any more gets no further in most readers, so half keep to values. */
const changes = fc.oneof(
  fc.array(ofValues, { maxLength: 4 }),
  fc.array(fc.oneof(ofBytes, ofValues), { maxLength: 5 })
)

/** Mutants of the seeds; the seeds themselves are among them. */
export function mutantsOf(seeds: readonly Buffer[]): fc.Arbitrary<Buffer> {
  return fc
    .tuple(fc.nat(Math.max(0, seeds.length - 1)), changes)
    .map(([index, list]) =>
      list.reduce(
        (input, one) => changed(input, one, seeds).subarray(0, INPUT_BYTES_MAX),
        seeds[index] ?? Buffer.alloc(0)
      )
    )
}

const INPUT_BYTES_MAX = 200_000

function changed(input: Buffer, one: Change, seeds: readonly Buffer[]): Buffer {
  const scaled = (at: number, length = input.length) => Math.floor((at / 0x10000) * (length + 1))
  const at = scaled(one.at)
  switch (one.do) {
    case 'flip': {
      const copy = Buffer.from(input)
      if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << one.bit)
      return copy
    }
    case 'cut':
      return input.subarray(0, at)
    case 'remove':
      return Buffer.concat([input.subarray(0, at), input.subarray(at + (one.to % 40))])
    case 'insert':
    case 'replace': {
      const token = tokens[one.token] ?? Buffer.alloc(0)
      const over = one.do === 'insert' ? 0 : token.length
      return Buffer.concat([input.subarray(0, at), token, input.subarray(at + over)])
    }
    case 'repeat': {
      const piece = input.subarray(at, at + 1 + (one.to % 200))
      const pieces = Array.from({ length: one.times + 1 }, () => piece)
      return Buffer.concat([input.subarray(0, at), ...pieces, input.subarray(at + piece.length)])
    }
    case 'splice': {
      const other = seeds[one.seed % seeds.length] ?? input
      return Buffer.concat([input.subarray(0, at), other.subarray(scaled(one.from, other.length))])
    }
    default:
      return changedJson(input, one)
  }
}

/** Changes a value in one of the lines that hold JSON; behind a letter, too. */
function changedJson(input: Buffer, one: Extract<Change, { readonly with: number }>): Buffer {
  const text = input.toString('utf8')
  const isWhole = jsonIn(text) !== undefined
  const lines = isWhole ? [text] : text.split('\n')
  const held = lines.flatMap((line, index) => {
    const from = line.search(/[[{]/)
    const value = from < 0 ? undefined : jsonIn(line.slice(from))
    return value === undefined ? [] : [{ index, prefix: line.slice(0, from), value }]
  })
  const chosen = held[one.with % Math.max(1, held.length)]
  if (chosen === undefined) return input
  const root: { whole: Json } = { whole: chosen.value }
  const spots = spotsIn(root)
  const spot = spots[one.at % spots.length]
  if (spot === undefined) return input
  alter(spot, one, spots)
  lines[chosen.index] = `${chosen.prefix}${written(root.whole)}`
  return Buffer.from(lines.join('\n'))
}

interface Spot {
  readonly parent: Record<string, Json>
  readonly key: string
}

const SPOTS_MAX = 3_000

function spotsIn(root: { whole: Json }): readonly Spot[] {
  const spots: Spot[] = []
  const open: Spot[] = [{ parent: root as unknown as Record<string, Json>, key: 'whole' }]
  for (let spot = open.pop(); spot !== undefined; spot = open.pop()) {
    spots.push(spot)
    if (spots.length === SPOTS_MAX) return spots
    const value = spot.parent[spot.key]
    if (typeof value !== 'object' || value === null) continue
    const parent = value as Record<string, Json>
    for (const key of Object.keys(parent)) open.push({ parent, key })
  }
  return spots
}

function alter(
  { parent, key }: Spot,
  one: Extract<Change, { readonly with: number }>,
  spots: readonly Spot[]
): void {
  const value = parent[key] ?? null
  const name = names[one.with % names.length] ?? 'x'
  const put = (at: string, given: Json) =>
    Object.defineProperty(parent, at, {
      value: given,
      enumerable: true,
      configurable: true,
      writable: true
    })
  switch (one.do) {
    case 'set':
      put(key, structuredClone(oddities[one.with % oddities.length] ?? null))
      return
    case 'drop':
      if (Array.isArray(parent)) parent.splice(Number(key), 1)
      else delete parent[key]
      return
    case 'twice':
      if (Array.isArray(parent)) parent.splice(Number(key), 0, structuredClone(value))
      else put(`${key}2`, structuredClone(value))
      return
    case 'rename':
      if (Array.isArray(parent)) return
      delete parent[key]
      put(name, value)
      return
    case 'move': {
      const other = spots[one.with % spots.length]
      if (other === undefined) return
      put(key, structuredClone(other.parent[other.key] ?? null))
    }
  }
}

function jsonIn(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

function written(value: Json): string {
  try {
    return canonicalize(value)
  } catch {
    return JSON.stringify(value) ?? 'null'
  }
}

/** Whether what a reader gave is plain data that can be written. */
export function isWritable(value: unknown): boolean {
  return isJsonObject(value as Json) || typeof value !== 'function'
}
