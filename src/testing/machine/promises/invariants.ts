import { canonicalize, type Json } from '../../../core/index.js'
import type { Receipt, StoredReceipt } from '../../../ledger/index.js'
import type { Invariant } from '../options.js'
import type { Play } from '../play.js'
import { type Broken, firstBroken, type MachinePromise, shortened } from './promise.js'

/** What the user says holds after every receipt. */
export const always: MachinePromise = {
  code: 'always',
  text: 'the invariants of `always` hold after every receipt',
  check: (evidence) => {
    const { always: given = {} } = evidence.options
    const named = Object.entries(given)
    if (named.length === 0) return undefined
    return firstBroken(evidence, (play) => {
      const state: Record<string, Json> = {}
      const receipts: Receipt[] = []
      for (const { receipt, writeSet } of play.receipts) {
        receipts.push(receipt)
        changedBy(state, writeSet)
        const path = receipt.inputPayload.run?.path
        for (const [name, invariant] of named) {
          const seen = { state: { ...state }, receipts: [...receipts] }
          const broken = judged(name, invariant, { seen, shown: seen.state })
          if (broken !== undefined) return { ...broken, ...(path === undefined ? {} : { path }) }
        }
      }
      return undefined
    })
  }
}

/** What the user says holds when everything has ended. */
export const eventually: MachinePromise = {
  code: 'eventually',
  text: 'the invariants of `eventually` hold when all runs have ended',
  check: (evidence) => {
    const named = Object.entries(evidence.options.eventually ?? {})
    if (named.length === 0) return undefined
    return firstBroken(evidence, (play) => {
      if (play.results.length < evidence.given.inputs.length) return undefined
      for (const [name, invariant] of named) {
        const seen = seenInTheEnd(play)
        const broken = judged(name, invariant, { seen, shown: seen.state })
        if (broken !== undefined) return broken
      }
      return undefined
    })
  }
}

function seenInTheEnd({ state, receipts, results, world }: Play) {
  return {
    state: Object.fromEntries([...state].map(([key, text]) => [key, JSON.parse(text) as Json])),
    receipts: receipts.map(({ receipt }) => receipt),
    results,
    deeds: world.deeds.map(({ effect, request }) => ({
      effect,
      request: JSON.parse(request) as Json
    }))
  }
}

/** Changes state entries as a receipt has. */
export function changedBy(state: Record<string, Json>, writeSet: StoredReceipt['writeSet']): void {
  for (const { key, after } of writeSet) {
    if (after === undefined) delete state[key]
    else state[key] = after
  }
}

/** Asks an invariant; `shown` is what a message shows of what it was asked about. */
export function judged<Seen>(
  name: string,
  invariant: Invariant<Seen>,
  { seen, shown }: { readonly seen: Seen; readonly shown: unknown }
): Broken | undefined {
  let thrown: unknown
  try {
    if (invariant(seen) !== false) return undefined
  } catch (error) {
    thrown = error
  }
  const actual = thrown instanceof Error ? thrown.message : shortened(canonicalize(shown))
  return { problem: `"${name}" does not hold`, actual }
}

/** Of each pair one at most is done in one run. */
export const neverBoth: MachinePromise = {
  code: 'never_both',
  text: 'of each pair of `neverBoth` one at most is done in one run',
  check: (evidence) => {
    const pairs = evidence.options.neverBoth ?? []
    if (pairs.length === 0) return undefined
    return firstBroken(evidence, (play) => {
      for (const [run, entries] of play.journals) {
        const done = new Set(
          play.world.deeds.filter((deed) => deed.run === run).map(({ effect }) => effect)
        )
        for (const entry of entries) {
          if (entry.k !== 'settled' || !entry.response.success) continue
          done.add(entry.path).add(entry.path.split('/').at(-1) ?? '')
        }
        for (const { receipt } of play.receipts) {
          if (receipt.inputPayload.run?.runId === run) done.add(receipt.intent)
        }
        const both = pairs.find(([one, other]) => done.has(one) && done.has(other))
        if (both !== undefined) return { problem: `${both[0]} and ${both[1]} were done in ${run}` }
      }
      return undefined
    })
  }
}
