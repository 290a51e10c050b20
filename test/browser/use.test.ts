import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, type TestContext } from 'vitest'
import type { VerificationReport } from '../../src/audit/index.js'
import type { WiredRuntime } from '../../src/runtime/index.js'
import { openChromium, watchedPage, withoutChromium } from '../support/console/chromium.js'
import { damaged, damages } from '../support/console/damaged-ledgers.js'
import {
  type FakeConsole,
  serveConsole,
  serveFakeConsole
} from '../support/console/fake-console.js'
import { FakeLedger } from '../support/console/fake-ledger.js'
import { hostileQueue, hostileSchedule } from '../support/console/fake-work.js'
import { hostileRuns, hostileTexts } from '../support/console/hostile-runs.js'
import { isTaken } from '../support/effort.js'
import { expectVerifyFailure } from '../support/verified-close.js'

/** What a person does with the console's page, and what a ledger could do to that person. */

let browser: Browser | undefined
let ledger: FakeLedger
let served: FakeConsole
const browserOf = ({ skip }: TestContext): Browser => browser ?? skip(withoutChromium)

beforeAll(async () => {
  browser = await openChromium()
})
afterAll(async () => {
  await browser?.close()
})
beforeEach(async () => {
  ledger = new FakeLedger()
  served = await serveFakeConsole(ledger)
  return () => served.close()
})

async function opened(context: TestContext, path: string) {
  const watched = await watchedPage(browserOf(context), served.origin, {
    viewport: { width: 1280, height: 800 }
  })
  await watched.page.goto(served.link(path))
  await watched.page.waitForSelector('nav.rail')
  return watched
}

async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
}

describe('the console from the keyboard', () => {
  it('leads from the list to an answer and to a verification without a mouse', async (context) => {
    const { page, faults } = await opened(context, '/runs')
    await page.waitForSelector('text=july')
    await press(page, 'j', 'j', 'Enter')
    await page.waitForSelector('svg.ch .nd.waiting')
    await press(page, '[')
    await page.waitForSelector('text=as of entry')
    await press(page, '}')
    await page.waitForSelector('text=as of entry', { state: 'detached' })
    await press(page, 'Enter')
    await page.waitForSelector('text=This page hashed all')
    const [asked] = ledger.openWaits().filter(({ runId }) => runId === 'july')
    await press(page, 'a')
    await page.waitForSelector('text=taken; the run continues')
    expect(ledger.answers).toMatchObject([
      { id: 'july', token: asked?.wait.token, digest: asked?.wait.digest, action: 'approve' }
    ])
    expect(ledger.answers[0]?.commandId).toMatch(/^[0-9a-f]{32}$/)
    await press(page, 'g', 'l')
    await page.waitForSelector('button.verify')
    await press(page, 'v')
    await page.waitForSelector('text=All that was checked holds')
    expect(await page.textContent('.ban')).toContain('2 things were not checked')
    await press(page, 'Control+k')
    await page.waitForSelector('input[type=search]:focus')
    await page.keyboard.type('june')
    await page.waitForSelector('[role=option]')
    await press(page, 'Enter')
    await page.waitForSelector('.rh >> text=june')
    expect(new URL(page.url()).pathname).toBe('/runs/june')
    expect(faults).toEqual([])
    await page.context().close()
  })

  it('keeps what is looked at in the address, without the token', async (context) => {
    const { page } = await opened(context, '/runs/june')
    await page.waitForSelector('svg.ch')
    await press(page, '{', ']', 'j')
    await page.waitForSelector('text=as of entry 1 of')
    const { pathname, search, hash } = new URL(page.url())
    expect([pathname, search.includes('at=1'), search.includes('step='), hash]).toEqual([
      '/runs/june',
      true,
      true,
      ''
    ])
    await page.context().close()
  })
})

describe('an answer', () => {
  it('is refused when the wait has changed since it was drawn', async (context) => {
    const { page } = await opened(context, '/waits')
    await page.click('text=This invoice is above the limit. Pay it?')
    await page.waitForSelector('text=This page hashed all')
    ledger.changeWaits((wait) => ({ ...wait, digest: `${'0'.repeat(63)}1` as never }))
    await press(page, 'a')
    await page.waitForSelector('text=digest_mismatch')
    expect(ledger.answers).toEqual([])
    await page.context().close()
  })

  it('cannot be given where what is drawn does not hash to the digest', async (context) => {
    ledger.changeWaits((wait) => ({ ...wait, request: { payload: { amount: '1.00' } } }))
    const { page } = await opened(context, '/waits')
    await page.waitForSelector('text=Do not answer')
    expect(await page.isDisabled('.act .btn >> nth=0')).toBe(true)
    await press(page, 'a', 'r', 't', 'x')
    expect(ledger.answers).toEqual([])
    await page.context().close()
  })
})

describe('damage', () => {
  it('is shown at its receipt, with what was signed beside what is stored', async (context) => {
    ledger.damagedAt = 120
    const { page } = await opened(context, '/ledger/120')
    await page.waitForSelector('text=Receipt 120')
    await press(page, 'v')
    await page.waitForSelector('[role=alert] >> text=Receipt 120 is not what was signed')
    expect(await page.textContent('[role=alert] .dif')).toMatch(/signed.*computed/)
    expect(await page.textContent('.trow.brk')).toContain('120')
    expect(await page.textContent('.insp .pill')).toContain('altered')
    await press(page, '[')
    await page.waitForSelector('text=signed, and follows its predecessor: verified')
    await page.context().close()
  })
})

/** As the page verifies: nothing is executed again. */
async function verified({ queries }: WiredRuntime): Promise<VerificationReport> {
  for await (const { phase, report } of queries.verifying()) {
    if (phase === 'done') return report as unknown as VerificationReport
  }
  throw new Error('it has no end')
}

describe('a ledger that was altered on the disk', () => {
  const kinds = Object.entries(damages).filter((_, place) => isTaken(place, 4))

  it.for(kinds)(
    'has its damage shown at its receipt: %s',
    async ([name, { at, alter }], context) => {
      const tally = await damaged(alter)
      const { failure } = await verified(tally)
      expect(failure, name).toMatchObject({ index: at })
      // Closing it executes everything again, which may find another field first.
      expectVerifyFailure((await tally.verify()).failure?.field ?? '')
      const real = await serveConsole(tally.service)
      const options = { viewport: { width: 1280, height: 800 } }
      const { page, faults } = await watchedPage(browserOf(context), real.origin, options)
      page.setDefaultTimeout(5_000)
      await page.goto(real.link(`/ledger/${at}`))
      await page.waitForSelector('button.verify')
      await press(page, 'v')
      const alert = await page.waitForSelector('[role=alert]:has(.dif)')
      const said = await alert.textContent()
      expect(said).toMatch(new RegExp(`(at |before |^)receipt ${at}\\b`, 'i'))
      expect(said).toContain(failure?.field)
      expect(said).toContain(failure?.signed)
      expect(said).toContain(failure?.computed)
      // Nothing at it or after it is said to hold, and what is before it is.
      await press(page, '[')
      await page.waitForSelector('text=signed, and follows its predecessor: verified')
      await press(page, ']')
      const holds = { state: 'detached' } as const
      await page.waitForSelector('text=signed, and follows its predecessor: verified', holds)
      expect(faults).toEqual([])
      await page.context().close()
      await real.close()
      await tally.close()
    }
  )
})

describe('what the page checks by itself', () => {
  it('is the signature and the link of a receipt, holding or not', async (context) => {
    const { page, faults } = await opened(context, '/ledger/38')
    await page.waitForSelector('text=this page checked its hash and its signature')
    await page.waitForSelector('text=it follows receipt 37')
    const view = await ledger.methods.receipt?.({ index: 39 })
    if (view === undefined) throw new Error('no receipt')
    // A byte of its signature, and a member that its hash covers.
    const { signature } = view.receipt
    const forged = `${signature.slice(0, -8)}00000000`
    ledger.alters(39, (receipt) => ({ ...receipt, signature: forged as never }))
    ledger.alters(40, (receipt) => ({ ...receipt, intent: 'another' }))
    await press(page, ']')
    await page.waitForSelector('text=its signature is not one of its key')
    await press(page, ']')
    await page.waitForSelector('text=what is shown has another one')
    expect(faults).toEqual([])
    await page.context().close()
  })

  it('is evidence, which the list leads to, and the texts of a prompt', async (context) => {
    const { page, faults } = await opened(context, '/ledger')
    await page.click('.trow:has-text("evidence")')
    await page.waitForSelector('h2:has-text("Evidence, log record")')
    await page.waitForSelector('text=this page checked its hash and its signature')
    await page.click('.insp a:has-text("greet-ada")')
    await page.waitForSelector('.rh >> text=greet-ada')
    await page.goto(served.link('/runs/harbour?view=turns'))
    await page.click('.turn >> nth=0 >> summary:has-text("userPrompt")')
    await page.waitForSelector('text=How deep is the harbour')
    await page.waitForSelector('text=its hash is the one that is signed >> visible=true')
    expect(faults).toEqual([])
    await page.context().close()
  })
})

describe('what a receipt and a turn have', () => {
  it('is shown: sealed responses, hashed again, and what an agent said', async (context) => {
    const { page, faults } = await opened(context, '/runs')
    const index = (await ledger.methods.log?.({ limit: 200 }))?.items.findLast(
      ({ runId, path }) => runId === 'june' && path === 'root/pay'
    )?.index
    await page.goto(served.link(`/ledger/${index}`))
    await page.click('summary:has-text("Sealed responses (1)")')
    await page.waitForSelector('text=this page hashed the response >> visible=true')
    await page.goto(served.link('/runs/harbour?view=turns'))
    const said = await page.textContent('.turn .say >> nth=0')
    await page.click('text=Play as it arrived >> nth=0')
    await page.waitForSelector('.turn .say .car')
    await page.waitForSelector('.turn .say .car', { state: 'detached' })
    expect(await page.textContent('.turn .say >> nth=0')).toBe(said)
    expect(faults).toEqual([])
    await page.context().close()
  })
})

describe('a ledger that no process holds', () => {
  it('is not said to be live, and offers to sign nothing', async (context) => {
    ledger.readOnly = true
    const { page } = await opened(context, '/ledger')
    await page.waitForSelector('.beat.live')
    served.send({ type: 'mode', mode: 'ready', cause: null, isHeld: false })
    await page.waitForSelector('.beat >> text=not held')
    await page.waitForSelector('text=this page cannot sign')
    await page.waitForSelector('.cmd >> text=tally note --dir ./ledger')
    expect(await page.$('text=Sign a note of now')).toBeNull()
    served.send({ type: 'mode', mode: 'ready', cause: null, isHeld: true })
    await page.waitForSelector('.beat.live >> text=live')
    await page.context().close()
  })
})

describe('safe mode', () => {
  it('is said on the list of runs with cause and fix, and on every screen', async (context) => {
    ledger.safeModeCause = { code: 'ledger.corrupt', message: 'receipt 12 is not as signed' }
    const { page } = await opened(context, '/runs')
    const alert = await page.waitForSelector('[role=alert]:has-text("Safe mode")')
    await page.waitForSelector('[role=alert] >> text=To mend it')
    expect(await alert.textContent()).toMatch(/ledger\.corrupt.*receipt 12 is not.*--cut/)
    await press(page, 'g', 'w')
    await page.waitForSelector('header >> text=safe mode')
    await page.context().close()
  })
})

describe('runs to resume', () => {
  it('are said to continue or not, with what is missing, each with its link', async (context) => {
    const run = (id: string, ready: boolean | null, missing: readonly string[] = []) => ({
      id,
      ready,
      missing,
      problem: null
    })
    ledger.toResume = [
      run('july', true),
      run('june', false, ['invoices.pay@1.0.0']),
      run('x', null)
    ]
    const { page } = await opened(context, '/health')
    await page.waitForSelector('.chk.holds:has-text("july: every block has the version")')
    await page.waitForSelector('.chk.broken:has-text("june: no, invoices.pay@1.0.0")')
    await page.waitForSelector('.chk.unknown:has-text("x: nothing says so")')
    await page.context().close()
  })
})

describe('the state of then', () => {
  it('is one click from a run as it was, and from a receipt', async (context) => {
    const { page } = await opened(context, '/runs/june?at=20')
    await page.click('.rh >> text=State as of here')
    await page.waitForSelector('h2:has-text("State as of receipt")')
    expect(new URL(page.url()).search).toMatch(/^\?asOf=\d+$/)
    await page.goto(served.link('/ledger/38'))
    await page.click('.insp >> text=State as of here')
    await page.waitForSelector('text=State as of receipt 38')
    await page.context().close()
  })
})

describe('a service of an earlier version', () => {
  it('is verified without progress', async (context) => {
    ledger.saysProgress = false
    const { page } = await opened(context, '/ledger')
    await page.waitForSelector('button.verify')
    await press(page, 'v')
    await page.waitForSelector('text=All that was checked holds')
    await page.context().close()
  })
})

describe('what happens meanwhile', () => {
  it('is shown without loading anew', async (context) => {
    const { page } = await opened(context, '/runs/parcel-8815')
    await page.waitForSelector('.pill.running')
    await page.waitForSelector('.beat.live')
    const run = ledger.finishRunning('parcel-8815')
    served.send({ place: '900.1', type: 'changed', runs: [run.view.id], isSigned: true })
    await page.waitForSelector('.rh .pill.done')
    await page.waitForSelector('text=live, commit 900')
    await page.waitForSelector('text=run.finished')
    await page.context().close()
  })
})

describe('a page that has missed something', () => {
  it('has each entry once after it asked anew, and says when it is cut off', async (context) => {
    const { page } = await opened(context, '/runs/parcel-8815')
    await page.waitForSelector('.beat.live')
    const { journal } = ledger.finishRunning('parcel-8815')
    const last = `${journal.lines.length - 1} run.finished`
    served.send({ type: 'reset', place: '900.0' })
    await page.waitForSelector('.rh .pill.done')
    await page.waitForSelector(`.tl .hd:has-text("${last}")`)
    served.send({ type: 'reset', place: '901.0' })
    await page.waitForSelector('text=live, commit 901')
    expect((await page.textContent('.tl .hd'))?.replaceAll(/\s+/g, ' ')).toContain(last)
    await served.close()
    await page.waitForSelector('.beat.lost >> text=not connected')
    await page.context().close()
  })
})

describe('a hostile ledger', () => {
  it('has its texts drawn as texts on every screen, and nothing of it runs', async (context) => {
    ledger.runs.push(...hostileRuns())
    const { page, faults } = await opened(context, '/runs')
    await page.waitForSelector('text=<img')
    for (const run of hostileRuns()) {
      const path = `/runs/${encodeURIComponent(run.view.id)}`
      await page.goto(served.link(path))
      await page.waitForSelector('svg.ch .nd')
      await page.waitForSelector('.ui')
      expect(await page.textContent('#app')).not.toMatch(/\p{Cf}|(?!\n)\p{Cc}/u)
    }
    await page.goto(served.link('/waits'))
    await page.waitForSelector('.wi >> text=<')
    for (const item of await page.$$('.wi')) {
      await item.click()
      await page.waitForSelector('text=This page hashed all')
    }
    ledger.queues = hostileTexts.map((text) => hostileQueue(text))
    ledger.schedules = hostileTexts.map((text) => hostileSchedule(text))
    await page.goto(served.link('/work'))
    await page.waitForSelector('h3 >> text=<img')
    expect(await page.textContent('#app')).not.toMatch(/\p{Cf}|(?!\n)\p{Cc}/u)
    const made =
      'document.querySelectorAll("img, iframe, object, embed, #app script, #app style").length'
    expect(await page.evaluate(made)).toBe(0)
    expect(await page.evaluate('globalThis.hostile')).toBeUndefined()
    const links = await page.$$eval('a', (found) => found.map((one) => one.getAttribute('href')))
    expect(links.filter((href) => href !== null && !/^[/#]/.test(href))).toEqual([])
    expect(hostileTexts.length).toBeGreaterThan(5)
    expect(faults).toEqual([])
    await page.context().close()
  })
})

describe('queues and schedules', () => {
  it('are reached by keys, asked anew as runs move, and lead to runs', async (context) => {
    const { page, faults } = await opened(context, '/runs')
    await page.waitForSelector('text=july')
    await page.keyboard.press('g')
    await page.keyboard.press('q')
    await page.waitForSelector('text=3 waiting')
    const [first, second] = ledger.queues
    ledger.queues = [first, second].flatMap((queue) =>
      queue === undefined ? [] : [{ ...queue, waiting: 7 }]
    )
    served.send({ type: 'changed', place: '900.0', runs: null, isSigned: false } as never)
    await page.waitForSelector('text=7 waiting')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/runs/june')
    expect(faults).toEqual([])
    await page.context().close()
  })
})

describe('a large ledger', () => {
  it('draws few nodes of ten thousand runs, and others when it is scrolled', async (context) => {
    ledger.repeat(10_000)
    const { page } = await opened(context, '/runs')
    await page.waitForSelector('.trow')
    const nodes = () => page.evaluate<number>('document.querySelectorAll("*").length')
    expect(await nodes()).toBeLessThanOrEqual(2_000)
    await page.waitForSelector(`.chip >> text=${ledger.runs.length}`)
    await page.evaluate('document.querySelector(".runs").scrollTop = 5_000')
    await page.waitForSelector('text=parcel-8815-9852')
    expect(await nodes()).toBeLessThanOrEqual(2_000)
    await page.context().close()
  })
})
