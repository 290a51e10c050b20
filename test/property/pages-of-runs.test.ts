import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, RunId } from '../../src/core/index.js'
import type { Ledger } from '../../src/ledger/index.js'
import type { Page, RunLine } from '../../src/runtime/index.js'
import { serve } from '../../src/runtime/service/service.js'
import { cases } from '../support/effort.js'
import { entry, newLedger } from '../unit/ledger/core/support.js'

/**
 * Pages of runs while runs begin and end, in any order of their times: nothing comes twice, and
 * nothing that was there from the first page on is left out. The model is a plain list.
 */

interface Known {
  readonly id: string
  readonly at: number
  status: 'running' | 'waiting'
}

type Step =
  | { readonly do: 'start'; readonly at: number; readonly name: string }
  | { readonly do: 'park'; readonly which: number }
  | { readonly do: 'read'; readonly reader: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  // Few times, so that many runs begin at once; and back in time, as a clock that is set.
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('start' as const),
      at: fc.integer({ min: 1, max: 6 }),
      name: fc.constantFrom('pay', 'Ship')
    })
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('park' as const), which: fc.nat(40) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('read' as const), reader: fc.nat(2) }) }
)

const readers = [
  { limit: 1 },
  { limit: 3, text: 'SHI' },
  { limit: 2, status: 'waiting' }
] as const satisfies readonly { limit: number; text?: string; status?: string }[]

interface Reading {
  readonly items: RunLine[]
  readonly there: ReadonlySet<string>
  cursor: string | null | undefined
}

const matches = (reader: number, { status }: Known, name: string) =>
  reader === 0 || (reader === 1 ? name === 'Ship' : status === 'waiting')

async function append(ledger: Ledger, id: string, ...entries: readonly string[]): Promise<void> {
  const appended = ledger.append({ runId: id as RunId, entries })
  if (appended.ok) await ledger.durable(appended.position)
}

describe('pages of runs', () => {
  it('Q2: have no run twice and leave none out, whatever begins and parks meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { ledger } = await newLedger()
        const service = serve({
          ledger,
          location: 'memory:',
          verify: () => Promise.reject(new Error('not asked for')),
          exports: () => Promise.reject(new Error('not asked for'))
        })
        const find = (params: object) =>
          service({
            method: 'find',
            params: params as Json,
            signal: new AbortController().signal
          }) as unknown as Promise<Page<RunLine>>
        const known = new Map<string, Known & { readonly name: string }>()
        const readings: (Reading | undefined)[] = []
        const turn = async (reader: number) => {
          readings[reader] ??= {
            items: [],
            there: new Set(
              [...known.values()].filter((one) => matches(reader, one, one.name)).map((o) => o.id)
            ),
            cursor: undefined
          }
          const reading = readings[reader]
          if (reading.cursor === null) return
          const { cursor } = reading
          const page = await find({
            ...readers[reader],
            ...(cursor === undefined ? {} : { cursor })
          })
          expect(page.items.length).toBeLessThanOrEqual(readers[reader]?.limit ?? 0)
          reading.items.push(...page.items)
          reading.cursor = page.next
        }
        for (const one of steps) {
          if (one.do === 'read') await turn(one.reader)
          else if (one.do === 'start') {
            const id = `run-${(known.size * 7919) % 101}-${known.size}`
            const { at, name } = one
            known.set(id, { id, at, name, status: 'running' })
            await append(
              ledger,
              id,
              entry(id, 0, { k: 'run.started', status: 'running', name, at })
            )
          } else {
            const run = [...known.values()][one.which]
            if (run === undefined || run.status === 'waiting') continue
            run.status = 'waiting'
            await append(
              ledger,
              run.id,
              entry(run.id, 1, { k: 'run.waiting', status: 'waiting', waits: [], due: null })
            )
          }
        }
        for (const reader of readers.keys()) {
          for (let page = 0; readings[reader]?.cursor !== null; page += 1) {
            expect(page).toBeLessThan(200)
            await turn(reader)
          }
        }
        for (const [reader, reading] of readings.entries()) {
          const ids = reading?.items.map(({ id }) => id as string) ?? []
          expect(new Set(ids).size).toBe(ids.length)
          expect([...(reading?.there ?? [])].filter((id) => !ids.includes(id))).toEqual([])
          const shown = ids.map((id) => known.get(id))
          for (const run of shown) expect(run && matches(reader, run, run.name)).toBe(true)
          const order = shown.map((run) => [run?.at ?? 0, run?.id ?? ''] as const)
          const sorted = [...order].sort((a, b) => b[0] - a[0] || (b[1] < a[1] ? -1 : 1))
          expect(order).toEqual(sorted)
        }
        await ledger.close()
      }),
      { numRuns: cases({ usual: 15, long: 55, soak: 2_000 }) }
    )
  })
})
