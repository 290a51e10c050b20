import { signal } from '@preact/signals'
import type { RunCounts } from '../../../runtime/index.js'
import { ask } from '../client/api.js'

/** Open waits, as the navigation shows them. */
export const openWaits = signal('')
/** Null: not known yet. */
export const runCounts = signal<RunCounts | null>(null)

/** Open waits that are counted; there may be more. */
const COUNTED_MAX = 99

export function countAll(): void {
  ask('counts', {}).then(
    (found) => {
      runCounts.value = found
    },
    () => undefined
  )
  ask('waits', { limit: COUNTED_MAX }).then(
    ({ items, next }) => {
      openWaits.value = next === null ? String(items.length) : `${COUNTED_MAX}+`
    },
    () => undefined
  )
}
