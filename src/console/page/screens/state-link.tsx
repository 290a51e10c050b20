import { ask } from '../client/api.js'
import { go } from '../client/navigation.js'
import { problemOf } from '../client/query.js'
import { say } from '../parts/basics.js'
import { addressText } from '../pure/addresses.js'
import type { RunShown } from './run-shown.js'

const stateAsOf = (index: number) =>
  addressText({ screen: 'state', id: undefined, query: { asOf: String(index) } })

/** Leads to the state as it was after a receipt. */
export function StateLink({ index }: { readonly index: number }) {
  return (
    <a class="btn statelink" href={stateAsOf(index)}>
      State as of here
    </a>
  )
}

/** Leads to the state as of the last receipt that the run had when it is shown. */
export function StateButton({ shown: { journal, at } }: { readonly shown: RunShown }) {
  const last = journal.slice(0, at + 1).findLast(({ receiptHash }) => receiptHash !== null)
  const hash = last?.receiptHash
  if (hash === undefined || hash === null) return null
  return (
    <button
      type="button"
      class="btn hide-s"
      onClick={() => {
        ask('receipt', { hash }).then(
          ({ index }) => go(stateAsOf(index)),
          (thrown: unknown) => say(problemOf(thrown).message)
        )
      }}
    >
      State as of here
    </button>
  )
}
