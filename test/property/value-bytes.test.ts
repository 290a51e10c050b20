import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesOver, type Json, limits } from '../../src/core/index.js'
import { defineBlock, importSnapshot } from '../../src/index.js'
import { isLong, isTaken, testMs } from '../support/effort.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../support/ledger-on-disk.js'

const LIMIT = limits.VALUE_BYTES_MAX
/** Characters of one, two, three and four bytes, and one that canonical JSON escapes. */
const characters = ['a', 'é', '漢', '😀', '"'] as const

/** A text whose canonical JSON has exactly so many bytes. */
function textOf(character: string, bytes: number): string {
  const each = Buffer.byteLength(JSON.stringify(character)) - 2
  const rest = (bytes - 2) % each
  return 'a'.repeat(rest) + character.repeat((bytes - 2 - rest) / each)
}

const values: Record<string, string> = {}
const echo = defineBlock({
  name: 'echo',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx, { does, of }: { readonly does: string; readonly of: string }) => {
    const text = values[of] ?? of
    if (does === 'state') ctx.state.set('text', text)
    if (does === 'request') await ctx.effect('small', { request: text, perform: () => 'ok' })
    if (does === 'response') await ctx.effect('large', { request: 'ok', perform: () => text })
    if (does === 'wait') return (await ctx.wait({ reason: 'external' })).value
    return does === 'output' ? text : 'ok'
  }
})
const document = {
  schema: 'tally-composite/1',
  name: 'value',
  version: '1.0.0',
  entry_point: 'n',
  nodes: { n: { block: 'echo', input: { ref: 'request.payload' } } }
}

let disk: LedgerOnDisk
ledgerForEachTest((made) => {
  disk = made
})

describe('limits called BYTES', () => {
  it('count the bytes of UTF-8, whatever the characters', () => {
    const text = fc.array(fc.constantFrom(...characters, '\u0000', 'ÿ'), { maxLength: 40 })
    fc.assert(
      fc.property(text, fc.nat(160), (parts, limit) => {
        const joined = parts.join('')
        const bytes = new TextEncoder().encode(joined).length
        expect(bytesOver(joined, limit)).toBe(bytes > limit ? bytes : undefined)
      })
    )
  })

  const refusals = [
    ['output', 'output_too_large'],
    ['request', 'request_too_large'],
    ['response', 'response_too_large'],
    ['state', 'invalid_operation']
  ] as const

  it('refuse inputs, outputs, requests, responses, answers and state values of one byte more', async () => {
    const tally = await disk.open({ blocks: [echo] })
    for (const [row, character] of characters.entries()) {
      values[character] = textOf(character, LIMIT + 1)
      expect(() => tally.begin(document, { inputs: values[character] as Json })).toThrow(
        expect.objectContaining({ code: 'core.limit_exceeded' })
      )
      for (const [column, [does, reason]] of refusals.entries()) {
        if (!isTaken(row + column, 5)) continue
        const { response } = await tally.begin(document, { inputs: { does, of: character } }).result
        expect([does, character, response.reason]).toEqual([does, character, reason])
      }
    }
    await tally.close()
  })

  it.each([
    ['', {}, []],
    [' that asks for a confirmation', { confirm: true }, []],
    [' that is tried again', {}, [{ retry: { max_attempts: 2, interval_ms: 0 } }]]
  ] as const)(
    'refuse an input that a node%s makes of earlier responses',
    async (_, more, recovery) => {
      const half = defineBlock({
        name: 'half',
        version: '1.0.0',
        sideEffects: 'none',
        run: () => 'x'.repeat(LIMIT / 2)
      })
      const whole = { object: { one: { ref: 'nodes.a.response.data' }, two: { lit: 1 } } }
      const twice = { array: [{ ref: 'nodes.a.response.data' }, { ref: 'nodes.a.response.data' }] }
      const joining = (input: Json): Json => ({
        ...document,
        entry_point: 'a',
        nodes: {
          a: { block: 'half' },
          n: { block: 'given', input, recovery: [...recovery], ...more }
        },
        transitions: { a: 'n' }
      })
      let given = 0
      const code = defineBlock({
        name: 'given',
        version: '1.0.0',
        sideEffects: 'none',
        run: () => {
          given += 1
          return 'ok'
        }
      })
      const tally = await disk.open({ blocks: [half, code] })
      const run = tally.begin(joining(twice), { id: 'twice' })
      const { response } = await run.result
      const bytes = LIMIT + '["",""],'.length - 1
      expect(response).toMatchObject({ reason: 'input_too_large', details: { bytes } })
      expect(given).toBe(0)
      if (!('confirm' in more) && (isLong || recovery.length === 0)) {
        expect((await tally.begin(joining(whole), { id: 'once' }).result).status).toBe('done')
      }
      const report = await tally.verify()
      expect(report.failure).toBeUndefined()
      expect(report.notChecked.join()).not.toContain('failure')
      await tally.close()
    }
  )

  if (isLong) {
    it('let no value in that a snapshot cannot hold', { timeout: testMs(600_000) }, async () => {
      const tally = await disk.open({ blocks: [echo] })
      const ends: string[] = []
      for (const character of ['漢', '"']) values[character] = textOf(character, LIMIT)
      const kinds = [
        ['state', '漢'],
        ['response', '"'],
        ['output', '"'],
        ['request', '漢']
      ] as const
      for (const [does, of] of kinds) {
        ends.push((await tally.begin(document, { inputs: { does, of } }).result).status)
      }
      // An object around the text, so that the inputs have all the bytes that they may have.
      const of = textOf('"', LIMIT - '{"does":"","of":}'.length)
      ends.push((await tally.begin(document, { inputs: { does: '', of } }).result).status)
      expect(new Set(ends)).toEqual(new Set(['done']))
      const path = join(disk.directory, 'exported')
      await tally.export({ path })
      await tally.close()
      const imported = await importSnapshot(join(disk.directory, 'imported'), { file: path })
      expect(imported).toMatchObject({ outcome: 'created', report: { ok: true } })
    })
  }
})
