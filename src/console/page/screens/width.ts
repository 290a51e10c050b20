import { signal } from '@preact/signals'

const NARROW = '(max-width: 720px)'

/** Whether there is room for one column only. */
export const isNarrow = signal(matchMedia(NARROW).matches)
/** Pixels of the window's width and height. */
export const view = signal({ width: innerWidth, height: innerHeight })

export function followWidth(): void {
  addEventListener('resize', () => {
    isNarrow.value = matchMedia(NARROW).matches
    view.value = { width: innerWidth, height: innerHeight }
  })
}
