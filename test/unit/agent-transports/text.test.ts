import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonLines } from '../../../src/agent/transports/json-lines.js'
import { decimalText, sealable } from '../../../src/agent/transports/sealable.js'
import { structuredIn } from '../../../src/agent/transports/structured.js'
import {
  canonicalizeLedgerValue,
  exactNumbers,
  type Json,
  limits
} from '../../../src/core/index.js'

describe('JSON in a model’s text', () => {
  it.each([
    ['{"a": 1}', { a: 1 }],
    ['  [1, 2]\n', [1, 2]],
    ['Sure!\n```json\n{"a": "```"}\n```', { a: '```' }],
    ['Sure!\n```\n{"a": 1}\n```\nand ```{"b": 2}```', { a: 1 }],
    ['I think {not json} but {"a": {"b": "}"}} is', { a: { b: '}' } }],
    ['{"a": "\\"}"}', { a: '"}' }],
    ['no braces at all', undefined],
    ['{"never": "closed', undefined],
    ['"a string alone"', undefined],
    ['{'.repeat(10_000), undefined],
    ['['.repeat(200_000), undefined],
    // A pattern would look for the end behind each of them.
    [`\`\`\`${'\n'.repeat(1_000_000)}`, undefined]
  ])('%.40s', (text, expected) => {
    expect(structuredIn(text)).toEqual(expected)
  })

  it('finds any object in a fence, whatever stands around it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.lorem(), (value, words) => {
        const text = `${words}\n\`\`\`json\n${JSON.stringify({ value })}\n\`\`\`\n${words}`
        if (JSON.stringify(value).includes('```')) return
        const exact = exactNumbers(JSON.stringify({ value }))
        expect(structuredIn(text)).toEqual(JSON.parse(exact))
      }),
      { numRuns: 50 }
    )
  })

  it('finds fences as the pattern that says what they are', () => {
    const fences = /```[a-zA-Z]*\s*\n([\s\S]*?)```/g
    const parts = fc.constantFrom(
      '`',
      '```',
      '\n',
      ' ',
      'js',
      '{}',
      '[1]',
      '{"a":',
      '1',
      '}',
      'x y'
    )
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 16 }), (pieces) => {
        // No value stands alone, so that a fence decides.
        const text = `is ${pieces.join('')}`
        const inside = [...text.matchAll(fences)].map(([, one = '']) => jsonIn(one))
        const first = inside.find((one) => one !== undefined)
        if (first !== undefined) expect(structuredIn(text)).toEqual(first)
      }),
      { numRuns: 500 }
    )
  })
})

/** The object or list that a text is. */
function jsonIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

describe('values that the ledger can keep', () => {
  it.each([
    [0.85, '0.85'],
    [-0.5, '-0.5'],
    [1e-7, '0.0000001'],
    [1.25e-7, '0.000000125'],
    [1e21, '1000000000000000000000'],
    [-1.5e300, `-15${'0'.repeat(299)}`],
    [2 ** 53, '9007199254740992']
  ])('%d is kept as %s', async (value, text) => {
    expect(decimalText(value)).toBe(text)
    expect(await sealable({ value })).toEqual({ value: Number.isInteger(value) ? text : value })
  })

  it('keeps fractions as numbers, and nothing that is no number', async () => {
    expect(await sealable({ score: 0.85, list: [1.5, -0] })).toEqual({
      score: 0.85,
      list: [1.5, 0]
    })
    expect([await sealable(Number.NaN), await sealable([Number.POSITIVE_INFINITY])]).toEqual([
      undefined,
      undefined
    ])
  })

  it('writes every number so that it reads back the same', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Number(decimalText(value))).toBe(value === 0 ? Number(String(value)) : value)
        expect(decimalText(value)).not.toContain('e')
      }),
      { numRuns: 200 }
    )
  })

  it('keeps any JSON whose keys it may keep', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const kept = await sealable(value)
        const hasReservedKey = JSON.stringify(value).includes('"$')
        if (!hasReservedKey) expect(kept).toBeDefined()
        if (kept !== undefined) expect(() => canonicalizeLedgerValue(kept)).not.toThrow()
      }),
      { numRuns: 100 }
    )
  })

  it('leaves out what it cannot keep', async () => {
    expect(await sealable({ $ref: 'x' })).toBeUndefined()
    expect(await sealable(JSON.parse('['.repeat(200) + ']'.repeat(200)))).toBeUndefined()
    expect(await sealable('\ud800')).toBe('\ufffd')
    expect(await sealable(JSON.parse('{"__proto__": {"a": 1}}'))).toEqual(
      JSON.parse('{"__proto__": {"a": 1}}')
    )
  })
})

async function valuesOf(chunks: Iterable<Uint8Array>): Promise<readonly (Json | undefined)[]> {
  const values: (Json | undefined)[] = []
  const given = (async function* () {
    yield* chunks
  })()
  for await (const value of jsonLines(given)) values.push(value)
  return values
}

describe('JSON lines', () => {
  it('splits at LF alone, wherever the pieces end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ text: fc.string({ unit: 'grapheme' }) }), { maxLength: 6 }),
        fc.integer({ min: 1, max: 9 }),
        async (values, size) => {
          const bytes = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(''))
          const count = Math.ceil(bytes.length / size)
          const pieces = Array.from({ length: count }, (_, at) =>
            bytes.subarray(at * size, (at + 1) * size)
          )
          expect(await valuesOf(pieces)).toEqual(values)
        }
      ),
      { numRuns: 50 }
    )
  })

  it('keeps line separators of Unicode as text, and says what is not JSON', async () => {
    const text = '{"a":"x\u2028y"}\r\n\nnot json\n{"rest":'
    const found = await valuesOf([Buffer.from(text), Buffer.from('1}\n')])
    expect(found).toEqual([{ a: 'x\u2028y' }, undefined, { rest: 1 }])
  })

  it.each([
    ['ends', '\n'],
    ['does not end', '']
  ])('refuses one that is too long and %s', async (_, end) => {
    const lengthMax = limits.AGENT_MESSAGE_LENGTH_MAX
    const line = Buffer.from(`"${'x'.repeat(lengthMax - 2)}"`)
    expect(await valuesOf([line, Buffer.from('\n')])).toHaveLength(1)
    const longer = valuesOf([line, Buffer.from(` ${end}`)])
    await expect(longer).rejects.toMatchObject({
      reason: 'response_too_large',
      details: { lengthMax }
    })
  })
})
