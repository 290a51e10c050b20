import { existsSync } from 'node:fs'
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Request
} from 'playwright-core'

/** Where a Chromium may be: `TALLY_CHROMIUM`, then where systems put it. */
const places = [
  process.env['TALLY_CHROMIUM'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'
]

/** Without these the browser asks its maker's servers for this and that. */
const alone = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-quic',
  '--disable-sync',
  '--no-first-run'
]

/**
 * A browser of this machine, or undefined where there is none: tests of the page are left out then,
 * unless this is CI, where that would hide that nothing was tested.
 */
export async function openChromium(more: readonly string[] = []): Promise<Browser | undefined> {
  const executablePath = places.find((path) => path !== '' && existsSync(path))
  if (executablePath === undefined) {
    if (process.env['CI'] === undefined) return undefined
    throw new Error('CI has no Chromium: .ci/run installs one, or TALLY_CHROMIUM names it')
  }
  // A container runs as root, where the browser's own sandbox cannot be set up.
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ executablePath, args: ['--disable-gpu', ...alone, ...asRoot, ...more] })
}

export const withoutChromium = 'no Chromium here: install it, or name one with TALLY_CHROMIUM'

/** A page of its own, and everything in it that must not happen. */
export interface Watched {
  readonly page: Page
  /** Errors, violations of the policy, dialogs, and requests to anywhere else. */
  readonly faults: readonly string[]
  /** Resolves once the page has been answered all that it asked, and has drawn it. */
  readonly answered: () => Promise<void>
}

/** Frames in which nothing is asked, after which what was answered last is drawn. */
const FRAMES_QUIET = 3

export async function watchedPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions
): Promise<Watched> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`))
  page.on('console', (message) => {
    const isRefusal = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !isRefusal) faults.push(`console: ${message.text()}`)
  })
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  const asking = new Set<Request>()
  // What a page before it had asked concerns it no more.
  page.on('domcontentloaded', () => asking.clear())
  page.on('requestfinished', (request) => asking.delete(request))
  page.on('requestfailed', (request) => asking.delete(request))
  const answered = async () => {
    let quiet = 0
    while (quiet < FRAMES_QUIET) {
      await page.evaluate('new Promise((drawn) => requestAnimationFrame(drawn))')
      quiet = asking.size === 0 ? quiet + 1 : 0
    }
  }
  page.on('request', (request) => {
    if (/\/api\/(?!feed)/.test(request.url())) asking.add(request)
    const isData = request.url().startsWith('data:')
    if (!request.url().startsWith(origin) && !isData) faults.push(`asked: ${request.url()}`)
  })
  return { page, faults, answered }
}
