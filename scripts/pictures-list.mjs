/**
 * The pictures of the pages: which ledger of `pictures.mjs` they show, at which address of the
 * console, and what stands there once it is drawn.
 */

/** Where they are, from the root. */
export const folder = 'docs/pictures'

export const themes = ['light', 'dark']

export function withTheme(name, theme) {
  return `${name}-${theme}.png`
}

export const pictures = [
  { name: 'runs', ledger: 'waiting', path: '/runs', until: 'text=may', height: 320 },
  { name: 'run', ledger: 'waiting', path: '/runs/june', until: 'svg.ch .nd.waiting', height: 720 },
  {
    name: 'wait',
    ledger: 'waiting',
    path: '/waits',
    until: 'text=This page hashed all',
    height: 740
  },
  {
    name: 'tampered',
    ledger: 'tampered',
    path: '/ledger',
    height: 600,
    until: '.dif',
    act: (page) => verify(page)
  }
]

async function verify(page) {
  await page.waitForSelector('button.verify')
  await page.keyboard.press('v')
}
