import type { JournalEntry } from '../../../block/index.js'
import { brokenByPackage, firstBroken, firstIn, type MachinePromise } from './promise.js'

/** How packages end that exceed what one execution, or all of an intent, may use. */
const exceeded: ReadonlySet<string> = new Set([
  'gas_exceeded',
  'memory_exceeded',
  'stack_exceeded',
  'microtasks_exceeded',
  'host_calls_exceeded',
  'host_bytes_exceeded',
  'rounds_exceeded'
])

/** A play stays within bounds. */
export const bounded: MachinePromise = {
  code: 'bounded',
  text: 'steps, effects, bytes of state and journals, and work of packages stay within bounds',
  check: (evidence) =>
    firstBroken(evidence, ({ overrun, journals }) =>
      overrun === undefined
        ? firstIn([...journals.values()].flat(), tooMuch)
        : { problem: `one play has left ${overrun}` }
    )
}

const tooMuch = (entry: JournalEntry) =>
  brokenByPackage(entry, (id, reason) =>
    exceeded.has(reason) ? `${id} ends as ${reason}` : undefined
  )
