import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import { canonicalize, isJsonObject, type Json, nextTurn } from '../../src/core/index.js'
import { openMemoryStore } from '../../src/ledger/index.js'
import { cases } from '../support/effort.js'
import { openOn } from '../support/lives.js'
import { runScenario } from '../support/run-to-end.js'
import { scenarioBlocks } from '../support/scenario-blocks.js'
import { scenarioDocuments } from '../support/scenario-documents.js'
import { completionOf, nodeReceiptsOf } from '../support/timed-receipts.js'

/** Looks at everything in which a run could tell one place from another. */
const curious = defineBlock({
  name: 'curious',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx, input) => {
    const keys: string[] = []
    const walk = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      for (const key of Object.keys(value)) {
        keys.push(key)
        walk((value as Record<string, unknown>)[key])
      }
    }
    walk(input)
    return { keys, now: ctx.now(), random: ctx.random(), uuid: ctx.uuid(), unit: ctx.unitId }
  }
})

const document: Json = {
  schema: 'tally-composite/1',
  name: 'curious',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block: 'curious' }, b: { block: 'curious', input: { ref: 'request.payload' } } },
  transitions: { a: 'b' }
}

async function receiptsOf(inputs: Json): Promise<readonly string[]> {
  const runtime = await openOn(openMemoryStore(), { blocks: [curious] })
  const { status } = await runtime.begin(document, { id: 'r', inputs }).result
  expect(status).toBe('done')
  const texts: string[] = []
  for await (const { text } of runtime.receipts()) texts.push(text)
  await runtime.close()
  return texts
}

function turned(value: Json): Json {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).reverse()
  return Object.fromEntries(entries.map(([key, inner]) => [key, turned(inner)]))
}

// Keys that JavaScript would move to the front have no order that could be turned.
const key = fc.stringMatching(/^[a-z][a-z0-9]{0,3}$/)
const isTimed = (document: Json) =>
  isJsonObject(document) && document['schema'] === 'tally-plan/1' && document['atomic'] !== true

const inputs = fc.dictionary(key, fc.dictionary(key, fc.integer({ min: -9, max: 9 })))

describe('the same run', () => {
  it('D4, D5: has the same receipts whatever the order of the keys of its inputs', async () => {
    await fc.assert(
      fc.asyncProperty(inputs, async (given) => {
        expect(await receiptsOf(turned(given))).toEqual(await receiptsOf(given))
      }),
      { numRuns: cases({ usual: 8, long: 14 }), seed: 3 }
    )
  })

  it('D4, D5: has the same receipts in another process, time zone and language', () => {
    const script = join(import.meta.dirname, 'crash-store', 'print-receipts.mjs')
    const run = (env: Readonly<Record<string, string>>) =>
      execFileSync(process.execPath, [script], {
        env: { ...process.env, ...env },
        encoding: 'utf8'
      })
    const here = run({ TZ: 'UTC', LANG: 'C' })
    expect(here.split('\n').length).toBe(4)
    expect(run({ TZ: 'Pacific/Chatham', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' })).toBe(here)
    expect(run({ TZ: 'America/St_Johns', LANG: 'de_DE.UTF-8' })).toBe(here)
  })

  it('D3: of an atomic composite has the same receipts twice', async () => {
    for (const name of Object.keys(scenarioDocuments)) {
      const scenario = {
        document: scenarioDocuments[name] ?? null,
        inputs: {},
        registrations: scenarioBlocks
      }
      const [one, two] = [await runScenario(scenario), await runScenario(scenario)]
      expect(nodeReceiptsOf(one), name).toEqual(nodeReceiptsOf(two))
      expect(completionOf(one), name).toEqual(completionOf(two))
      // Where nodes wait beside each other the journal, and only it, keeps who was first.
      if (isTimed(scenario.document)) continue
      expect(canonicalize(one.receipts), name).toBe(canonicalize(two.receipts))
    }
  })

  it('D3: has the same results in whatever order its effects are answered', async () => {
    const orders = [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
      [2, 0, 1]
    ]
    const seen = new Set<string>()
    for (const order of orders) {
      const fan = defineBlock({
        name: 'curious',
        version: '1.0.0',
        sideEffects: 'none',
        run: (ctx) =>
          Promise.all(
            order.map((_, index) =>
              ctx.effect('look', {
                request: index,
                perform: async () => {
                  for (let turn = 0; turn < (order[index] ?? 0) * 5; turn += 1) await nextTurn()
                  return { index, random: index * 2 }
                }
              })
            )
          )
      })
      const runtime = await openOn(openMemoryStore(), { blocks: [fan] })
      const { response } = await runtime.begin(document, { id: 'r', inputs: {} }).result
      const report = await runtime.verify()
      expect(report.failure).toBeUndefined()
      const first = await runtime.receipt(0)
      const delivered = first?.receipt.inputPayload.sealed.map(({ seq }) => seq - 1)
      expect(delivered).toEqual([0, 1, 2].sort((a, b) => (order[a] ?? 0) - (order[b] ?? 0)))
      seen.add(canonicalize(response.data))
      await runtime.close()
    }
    expect(seen.size).toBe(1)
  })
})
