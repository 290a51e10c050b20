import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

/** What keys do now: the view that is shown adds its own, and takes them away. */
type Keys = Readonly<Record<string, () => void>>

const layers: (() => Keys)[] = []
export const overlay = signal<'search' | 'help' | 'cancel' | null>(null)

/** Keys of a view while it is shown; those of the last come first. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const layer = () => latest.current
    layers.unshift(layer)
    return () => {
      layers.splice(layers.indexOf(layer), 1)
    }
  }, [])
}

let isGoing = false

/** Sends keys to what is shown. `g` waits for a second one. */
export function followKeys(): void {
  addEventListener('keydown', (event) => {
    const { key, target } = event
    if ((event.ctrlKey || event.metaKey) && key === 'k') {
      event.preventDefault()
      overlay.value = 'search'
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const isTyping = target instanceof Element && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
    if ((isTyping || overlay.value !== null) && key !== 'Escape') return
    const name = isGoing ? `g ${key}` : key
    isGoing = key === 'g' && !isGoing
    const act = layers.map((layer) => layer()[name]).find((one) => one !== undefined)
    if (act === undefined) return
    event.preventDefault()
    act()
  })
}

/** Moves the focus among the rows of the list that is shown. */
export function moveRow(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
  const chosen = rows.indexOf(document.activeElement as HTMLElement)
  const current = chosen >= 0 ? chosen : rows.findIndex((row) => row.ariaCurrent === 'true')
  const next = rows[Math.max(0, Math.min(rows.length - 1, current + by))]
  next?.focus()
  if (next?.dataset.row === 'follow') next.click()
}
