import { cp } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import { isTallyError, type Json } from '../../src/core/index.js'
import { holdStore, importSnapshot, mainIdentity } from '../../src/ledger/index.js'
import {
  createRuntime,
  openReader,
  type ReceiptView,
  type RuntimeOptions,
  verifyLocation,
  type WiredRuntime
} from '../../src/runtime/index.js'
import { isTaken } from '../support/effort.js'
import { documentOf, temporaryDirectory } from '../support/snapshots.js'
import { forged, honest, isForged, type Tampering, tamperings } from '../support/tamper-table.js'
import { expectVerifyFailure } from '../support/verified-close.js'

/** What was paid: a forged question that is answered ends here. */
const paid: string[] = []
const blocks = [
  defineBlock({
    name: 'pay',
    version: '1',
    sideEffects: 'none',
    capabilities: ['pay'],
    run: async (ctx, input: { readonly ask: string }) => {
      await ctx.wait({ reason: 'confirmation', request: input.ask })
      await ctx.effect('pay', { request: input.ask, perform: () => paid.push(input.ask) })
      ctx.state.set('paid', input.ask)
      return honest.result
    }
  })
]
const inputs = { ask: honest.asked }
const open = { insecurePlaintextKey: true, serve: false, blocks } as const
const document = documentOf('pay')

let place: Awaited<ReturnType<typeof temporaryDirectory>>
let copies = 0

beforeAll(async () => {
  place = await temporaryDirectory('tamper-table')
  const tally = await opened(place.path('honest'), { create: 'if-absent' })
  for (const id of ['ended', 'parked']) {
    const run = tally.begin(document, { id, inputs })
    for await (const event of run) {
      if (event.type === 'waiting' && id === 'ended') {
        await run.approve(event.token, { digest: event.digest })
      }
      if (event.type === 'run.parked') break
    }
  }
  await tally.close()
  paid.length = 0
})
afterAll(async () => {
  for (const { verify } of tamperings) if (verify !== undefined) expectVerifyFailure(verify)
  await place.remove()
})

function opened(location: string, options: Partial<RuntimeOptions> = {}): Promise<WiredRuntime> {
  return createRuntime({ location, ...open, ...options })
}

/** Opens an altered copy; what it reports when it is closed is named. */
function openedAgain(location: string, tampering: Tampering): Promise<WiredRuntime> {
  if (tampering.opened !== undefined) expectVerifyFailure(tampering.opened.field)
  return opened(location)
}

/** A copy of the honest ledger, altered. */
async function altered(tampering: Tampering): Promise<string> {
  copies += 1
  const location = place.path(`copy-${copies}`)
  await cp(place.path('honest'), location, { recursive: true })
  const held = await holdStore(location)
  try {
    const identity = mainIdentity(held.location.marker)
    if (identity === undefined) throw new Error('there is no identity')
    await tampering.alter(held.store, identity)
  } finally {
    await held.close()
  }
  return location
}

/** What was shown, or the code with which it was caught. */
async function shownOr(show: () => Promise<unknown>): Promise<unknown> {
  try {
    return await show()
  } catch (error) {
    if (isTallyError(error)) return `caught: ${error.code}`
    throw error
  }
}

async function waitsAndResult(tally: WiredRuntime): Promise<unknown> {
  const parked = await shownOr(async () => (await tally.attach('parked')).waits())
  const ended = await shownOr(async () => (await tally.attach('ended')).result)
  return { parked, ended }
}

async function ask(location: string, id: string): Promise<Json> {
  const reader = await openReader(location)
  try {
    const { signal } = new AbortController()
    const shown = await shownOr(() =>
      Promise.resolve(reader.service({ method: 'show', params: { id }, signal }) as never)
    )
    return shown as Json
  } finally {
    await reader.close()
  }
}

it('L12: a reader shows what was asked for where nothing is altered', async () => {
  for (const id of ['ended', 'parked']) {
    expect(JSON.stringify(await ask(place.path('honest'), id))).toContain(honest.asked)
  }
})

describe.each(tamperings.map((tampering, row) => ({ tampering, row, name: tampering.name })))(
  'L12: with $name altered',
  ({ tampering, row }) => {
    // The usual form does the first check of a row and a third of the others, and all of them
    // where only code finds what the stored bytes do not tell.
    const isWhole = tampering.verify === undefined && tampering.opened !== undefined
    const check = (column: number, title: string, does: () => Promise<void>) => {
      if (column === 0 || isWhole || isTaken(row + column, 3)) it(title, does)
    }

    check(0, 'verification by the bytes names it', async () => {
      const { failure } = await verifyLocation(await altered(tampering), { notes: [] })
      expect(failure?.field).toBe(tampering.verify)
    })

    check(
      1,
      'opening mends it or enters safe mode, and verification with code agrees',
      async () => {
        const tally = await openedAgain(await altered(tampering), tampering)
        try {
          expect(tally.status().mode).toBe(tampering.opened?.mode ?? 'ready')
          const { failure } = await tally.verify({ reexecute: true })
          expect(failure?.field).toBe(tampering.opened?.field)
        } finally {
          await tally.close()
        }
      }
    )

    check(2, 'opening, showing and starting again show nothing forged', async () => {
      const location = await altered(tampering)
      const tally = await openedAgain(location, tampering)
      try {
        expect(isForged(await waitsAndResult(tally))).toBe(false)
        for (const id of ['parked', 'ended']) {
          const { signal } = new AbortController()
          const show = () => tally.service({ method: 'show', params: { id }, signal }) as never
          expect(isForged(await shownOr(async () => show()))).toBe(false)
          const told = await shownOr(async () => {
            const events: unknown[] = []
            for await (const event of tally.begin(document, { id, inputs })) {
              events.push(event)
              if (event.type === 'run.parked' || event.type === 'run.finished') break
            }
            return events
          })
          expect(isForged(told)).toBe(false)
        }
        const lines: unknown[] = []
        for await (const line of tally.service({
          method: 'runs',
          params: {},
          signal: new AbortController().signal
        }) as AsyncIterable<unknown>) {
          lines.push(line)
        }
        expect(isForged(lines)).toBe(false)
      } finally {
        await tally.close()
      }
    })

    check(3, 'a list of receipts has all of them, and names a forged result', async () => {
      const tally = await openedAgain(await altered(tampering), tampering)
      try {
        const lines: ReceiptView[] = []
        const { signal } = new AbortController()
        const listed = async () => {
          const given = { method: 'receipts', params: {}, signal }
          for await (const line of tally.service(given) as AsyncIterable<ReceiptView>)
            lines.push(line)
          return lines.length
        }
        const count = await shownOr(listed)
        expect(isForged(lines)).toBe(false)
        // Whole records are listed; a record that cannot be read ends the list with its code.
        if (typeof count === 'number') expect(count).toBe(tally.ledger.state().receipts)
        const problems = lines.flatMap(({ problem = [] }) => problem)
        const hasForged = tampering.verify === 'resultHash'
        expect([...new Set(problems)]).toEqual(hasForged ? ['run.result_forged'] : [])
      } finally {
        await tally.close()
      }
    })

    check(4, 'approving and resuming do nothing that was not asked', async () => {
      paid.length = 0
      const tally = await openedAgain(await altered(tampering), tampering)
      try {
        await shownOr(async () => {
          const run = await tally.attach('parked')
          const [wait] = await run.waits()
          expect(isForged(wait)).toBe(false)
          if (wait === undefined) return undefined
          await run.approve(wait.token, { digest: wait.digest })
          return run.result
        })
        await shownOr(async () => (await tally.resume('parked')).id)
      } finally {
        await tally.close()
      }
      expect(paid).not.toContain(forged.asked)
    })

    check(5, 'a reader without the key shows what source records say', async () => {
      const location = await altered(tampering)
      for (const id of ['ended', 'parked']) expect(isForged(await ask(location, id))).toBe(false)
    })

    check(6, 'what is exported is refused or imported as it was signed', async () => {
      const location = await altered(tampering)
      const tally = await openedAgain(location, tampering)
      const path = place.path(`${copies}.snapshot`)
      const made = await shownOr(() => tally.export({ path, damaged: true }))
      await shownOr(() => tally.close())
      if (typeof made === 'string') return
      const copy = place.path(`imported-${copies}`)
      const imported = await shownOr(() => importSnapshot(copy, { file: path }))
      if (typeof imported === 'string') return
      expect((await verifyLocation(copy, { notes: [] })).failure).toBeUndefined()
      expect(isForged(await ask(copy, 'ended'))).toBe(false)
    })
  }
)
