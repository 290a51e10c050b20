import { signal } from '@preact/signals'
import { ask } from '../client/api.js'

/** Counts of the navigation, as they are shown. */
export const counts = signal<{ readonly waits: string }>({ waits: '' })

/** Open waits that are counted; there may be more. */
const COUNTED_MAX = 99

export function countWaits(): void {
  ask('waits', { limit: COUNTED_MAX }).then(
    ({ items, next }) => {
      counts.value = { waits: next === null ? String(items.length) : `${COUNTED_MAX}+` }
    },
    () => undefined
  )
}
