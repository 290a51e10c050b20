import type { JournalEntry } from '../../../block/index.js'
import { type Broken, firstBroken, type MachinePromise, shortened } from './promise.js'

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
    firstBroken(evidence, ({ overrun, journals }) => {
      if (overrun !== undefined) return { problem: `one play has left ${overrun}` }
      for (const entry of [...journals.values()].flat()) {
        const broken = tooMuch(entry)
        if (broken !== undefined) return broken
      }
      return undefined
    })
}

function tooMuch(entry: JournalEntry): Broken | undefined {
  if (entry.k !== 'settled' || entry.provider?.kind !== 'package') return undefined
  const { response, provider, path } = entry
  const { success, reason = '', details = {} } = response
  if (success || !exceeded.has(reason)) return undefined
  const actual = shortened(JSON.stringify(details))
  return { problem: `${provider.id} ends as ${reason}`, actual, path }
}
