import { describe, expect, it } from 'vitest'
import type { JournalItem } from '../../src/ledger/index.js'
import { crashEverywhere, essence } from '../support/crash-everywhere.js'
import { isTaken } from '../support/effort.js'
import { openLedger } from '../support/ledgers.js'
import { type Deed, inlineSigner, type Machine, testKeys } from '../support/lives.js'
import { runScenario, type Scenario } from '../support/run-to-end.js'
import { scenarioBlocks } from '../support/scenario-blocks.js'
import { fanDocument, scenarioDocuments } from '../support/scenario-documents.js'

/** What a run has appended, item by item. */
async function recorded(scenario: Scenario) {
  const items: JournalItem[] = []
  const reference = await runScenario({
    ...scenario,
    opened: ({ ledger }) => {
      const append = ledger.append.bind(ledger)
      ledger.append = (item) => {
        const appended = append(item)
        if (appended.ok) items.push(item)
        return appended
      }
    }
  })
  return { items, reference }
}

interface Entry {
  readonly k: string
  readonly at: number
  readonly key?: string
  readonly path?: string
  readonly step?: number
  readonly attempt?: number
  readonly seq?: number
}

/**
 * A ledger that ends after these items, and a world in which what was in doubt happened, or not.
 */
async function prepare(
  machine: Machine,
  items: readonly JournalItem[],
  deeds: (entries: readonly Entry[]) => readonly Deed[]
): Promise<void> {
  const { identity, blobKey } = testKeys
  const store = machine.disk.open()
  const signer = inlineSigner()
  const ledger = await openLedger({ store, identity, signer, blobKey, create: 'if-absent' })
  for (const item of items) {
    // A ledger that has not listed a prefix takes it for changed (L10).
    for (const prefix of item.unit?.lists.keys() ?? []) await ledger.list(prefix)
    const appended = ledger.append(item)
    if (!appended.ok) throw new Error('a recorded item does not fit')
    await ledger.durable(appended.position)
  }
  await ledger.close()
  await store.close()
  const entries = entriesOf(items)
  machine.clock.advance(Math.max(0, ...entries.map(({ at }) => at - machine.clock.now())))
  machine.world.recall(deeds(entries))
}

function entriesOf(items: readonly JournalItem[]): readonly Entry[] {
  return items.flatMap((item) => item.entries.map((text) => JSON.parse(text) as Entry))
}

const callOf = ({ path, step, attempt, seq }: Entry) => `${path} ${step} ${attempt} ${seq}`

/** Keys of write requests that are answered in the journal, or, with `all`, of all of them. */
function requested(entries: readonly Entry[], all: boolean): ReadonlySet<string | undefined> {
  const answered = new Set(entries.filter(({ k }) => k === 'sealed').map(callOf))
  const requests = entries.filter(({ k }) => k === 'requested')
  return new Set(requests.filter((one) => all || answered.has(callOf(one))).map(({ key }) => key))
}

function isAnythingInDoubt(items: readonly JournalItem[]): boolean {
  const entries = entriesOf(items)
  return requested(entries, true).size > requested(entries, false).size
}

/** The usual form takes one item in six, which ones depends on the row. */
async function resumeEverywhere(
  scenario: Scenario,
  { row, sameOrder = true }: { readonly row: number; readonly sameOrder?: boolean }
): Promise<void> {
  const { items, reference } = await recorded(scenario)
  const expected = essence(reference, sameOrder)
  const { deeds } = reference.machine.world
  let resumed = 0
  for (let length = 1; length < items.length; length += 1) {
    if (!isTaken(length + row, 6)) continue
    resumed += 1
    const given = items.slice(0, length)
    for (const inDoubtHappened of isAnythingInDoubt(given) ? [false, true] : [false]) {
      const label = `${length} of ${items.length} items, in doubt happened: ${inDoubtHappened}`
      const outcome = await runScenario({
        ...scenario,
        prepare: (machine) =>
          prepare(machine, given, (entries) => {
            const keys = requested(entries, inDoubtHappened)
            return deeds.filter(({ key }) => keys.has(key))
          })
      }).catch((error: unknown) => {
        throw new Error(`${label}: ${String(error)}`, { cause: error })
      })
      expect(outcome.machine.world.repeated(), label).toEqual([])
      expect(essence(outcome, sameOrder), label).toEqual(expected)
    }
  }
  expect(resumed).toBeGreaterThan(0)
}

describe('resuming after every item of the journal', () => {
  for (const [row, [name, document]] of Object.entries(scenarioDocuments).entries()) {
    it(`L7, D6: ends as if nothing had happened for ${name}`, async () => {
      await resumeEverywhere({ document, inputs: {}, registrations: scenarioBlocks }, { row })
    })
  }

  it('L7: ends with the same results for effects beside each other', async () => {
    const scenario = { document: fanDocument, inputs: {}, registrations: scenarioBlocks }
    await resumeEverywhere(scenario, { row: 0, sameOrder: false })
  })
})

describe('a crash at every boundary', () => {
  const at = (row: number) => (boundary: number) => isTaken(boundary + row, 9)

  for (const [row, [name, document]] of Object.entries(scenarioDocuments).entries()) {
    it(`L6, L7, D6: changes nothing for ${name}`, async () => {
      const scenario = { document, inputs: {}, registrations: scenarioBlocks }
      await crashEverywhere(scenario, { at: at(row) })
    })
  }

  it('L6, L7: changes no result for effects beside each other', async () => {
    const scenario = { document: fanDocument, inputs: {}, registrations: scenarioBlocks }
    await crashEverywhere(scenario, { sameOrder: false, at: at(0) })
  })
})
