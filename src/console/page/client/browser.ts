/** The browser's clock, chance, timers and storage: the page takes them from here alone. */

export const nowMs = () => Date.now()

/** 128 bits of chance, in hex: names a command, so that sending it twice does it once. */
export function commandId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Does something after a time, unless the function that it gives is called before. */
export function after(delayMs: number, act: () => void): () => void {
  const timer = setTimeout(act, delayMs)
  return () => clearTimeout(timer)
}

/** Whether the reader has asked the system for less motion. */
export const prefersStillness = () => matchMedia('(prefers-reduced-motion: reduce)').matches

const THEME = 'tally-theme'
export type Theme = 'light' | 'dark'

export function themeNow(): Theme {
  const kept = localStorage.getItem(THEME)
  if (kept === 'light' || kept === 'dark') return kept
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

function applyTheme(): void {
  document.documentElement.dataset.theme = themeNow()
}

/** Draws in the theme that was chosen, or in that of the system, also when it changes. */
export function followTheme(): void {
  applyTheme()
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme)
}

export function switchTheme(): void {
  localStorage.setItem(THEME, themeNow() === 'dark' ? 'light' : 'dark')
  applyTheme()
}

/** Offers a text as a file. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  after(1_000, () => URL.revokeObjectURL(url))
}
