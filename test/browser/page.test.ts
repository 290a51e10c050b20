import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  openChromium,
  type Watched,
  watchedPage,
  withoutChromium
} from '../support/console/chromium.js'
import { type FakeConsole, serveFakeConsole } from '../support/console/fake-console.js'
import { START } from '../support/console/fake-journals.js'
import { FakeLedger } from '../support/console/fake-ledger.js'
import { pictureProblem } from '../support/console/pictures.js'
import { isTaken } from '../support/effort.js'

/** The console's page in a real browser, before a ledger that was never written. */

const wide = { width: 1280, height: 800 }
/** A little after all that the ledger has: ages are measured against it. */
const NOW = START + 5_400_000
const narrow = { width: 390, height: 844 }
const sizes = [
  ['wide', wide],
  ['narrow', narrow]
] as const

/** Each screen: its address, what is seen once it is drawn, and keys that lead further into it. */
const screens: readonly (readonly [name: string, path: string, seen: string, keys?: string])[] = [
  ['runs', '/runs', 'text=july'],
  ['runs that wait', '/runs?status=waiting', 'text=july'],
  ['a run', '/runs/june', 'svg.ch .nd'],
  ['a run as it was, at a step', '/runs/june?at=57&step=29.pay&tab=detail', 'text=step 29'],
  ['a run that waits', '/runs/july', 'svg.ch .nd.waiting'],
  ['turns of agents', '/runs/harbour?view=turns', '.turn .say'],
  ['waits', '/waits', 'text=Did carrier.book happen?'],
  ['a wait', '/waits/{token}', 'text=This page hashed all'],
  ['queues and schedules', '/work', 'text=nightly.invoices'],
  ['the ledger, verified', '/ledger', 'text=140', 'v'],
  ['a receipt', '/ledger/38', 'text=this page hashed the result'],
  ['evidence', '/ledger?leaf={evidence}', 'text=this page checked its hash and its signature'],
  ['state', '/state', 'text=payment/INV-2600'],
  ['a key', '/state/payment%2FINV-2600?asOf=60', 'text=History'],
  ['health', '/health', 'text=Ready, with 1 thing to mend'],
  ['search', '/runs', 'text=july', 'Control+k'],
  ['keys', '/runs', 'text=july', '?']
]

let browser: Browser | undefined
let ledger: FakeLedger
let served: FakeConsole

beforeAll(async () => {
  browser = await openChromium()
  ledger = new FakeLedger()
  served = await serveFakeConsole(ledger)
})
afterAll(async () => {
  await browser?.close()
  await served.close()
})

async function open(page: Page, path: string, seen: string): Promise<void> {
  const token = ledger.openWaits().find(({ runId }) => runId === 'july')?.wait.token ?? ''
  const leaf = String(ledger.evidence[0]?.leaf)
  // A page that is there already keeps what is open in it where only the address's end differs.
  await page.goto('about:blank')
  await page.goto(served.link(path.replace('{token}', token).replace('{evidence}', leaf)))
  await page.waitForSelector(`${seen} >> visible=true`)
}

/** Rules of WCAG and of good practice that the page breaks, with where. */
async function violations(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const options = rules === undefined ? {} : { runOnly: rules }
  const run = `axe.run(document, ${JSON.stringify({ ...options, resultTypes: ['violations'] })})`
  const { violations: found } = await page.evaluate<axe.AxeResults>(run)
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`))
}

describe.each(sizes)('each screen of the console, %s', (_size, viewport) => {
  let watched: Watched | undefined

  beforeAll(async () => {
    if (browser === undefined) return
    watched = await watchedPage(browser, served.origin, {
      viewport,
      reducedMotion: 'reduce',
      timezoneId: 'UTC'
    })
    await watched.page.clock.setFixedTime(NOW)
  })
  afterAll(() => watched?.page.context().close())

  it.for(screens.filter((_, place) => isTaken(place, 8)))(
    'looks as it did, and has no fault of accessibility, in light and dark: %s',
    async ([name, path, seen, keys], { skip }) => {
      const { page, faults, answered } = watched ?? skip(withoutChromium)
      await page.emulateMedia({ colorScheme: 'light' })
      await open(page, path, seen)
      if (keys !== undefined) await page.keyboard.press(keys)
      if (keys === 'v') await page.waitForSelector('text=All that was checked holds')
      await page.waitForSelector('.beat.live')
      await answered()
      const picture = `${name.replaceAll(/\W+/g, '-')}-${viewport.width}`
      expect.soft(await pictureProblem(page, `${picture}-light`)).toBeUndefined()
      expect.soft(await violations(page)).toEqual([])
      await page.emulateMedia({ colorScheme: 'dark' })
      await page.waitForSelector('html[data-theme=dark]')
      expect.soft(await pictureProblem(page, `${picture}-dark`)).toBeUndefined()
      // What the theme changes are colours.
      expect.soft(await violations(page, ['color-contrast'])).toEqual([])
      const overflow = 'document.documentElement.scrollWidth - innerWidth'
      expect.soft(await page.evaluate(overflow)).toBe(0)
      expect(faults).toEqual([])
    }
  )
})
