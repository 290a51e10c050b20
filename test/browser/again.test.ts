import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import { type Json, systemClock, systemRandom } from '../../src/core/index.js'
import { openMemoryStore } from '../../src/ledger/index.js'
import type { WiredRuntime } from '../../src/runtime/index.js'
import { openChromium, watchedPage, withoutChromium } from '../support/console/chromium.js'
import { serveConsole } from '../support/console/fake-console.js'
import { openOn, until } from '../support/lives.js'
import { expectVerifyFailure } from '../support/verified-close.js'

/** What the page shows of a real run: steps done again, signals, and until when it waits. */

let browser: Browser | undefined
beforeAll(async () => {
  browser = await openChromium()
})
afterAll(async () => {
  await browser?.close()
})

const document: Json = {
  schema: 'tally-composite/1',
  name: 'order',
  version: '1.0.0',
  entry_point: 'work',
  nodes: { work: { block: 'order.work' } }
}

/** A page on the service of a runtime, which is closed behind it. */
async function shown(
  { skip }: TestContext,
  tally: WiredRuntime,
  path: string,
  look: (page: Page) => Promise<void>
): Promise<void> {
  const real = await serveConsole(tally.service)
  const options = { viewport: { width: 1280, height: 800 } }
  const { page, faults } = await watchedPage(browser ?? skip(withoutChromium), real.origin, options)
  page.setDefaultTimeout(10_000)
  await page.goto(real.link(path))
  await look(page)
  expect(faults).toEqual([])
  await page.context().close()
  await real.close()
}

async function again(page: Page): Promise<void> {
  const section = page.locator('details', { hasText: 'Done again' }).last()
  await section.locator('summary').click()
  await section.getByRole('button', { name: 'Execute it again and compare' }).click()
}

describe('a step that is done again', () => {
  const open = (stamp: () => number) =>
    openOn(openMemoryStore(), {
      random: systemRandom,
      blocks: [
        defineBlock({
          name: 'order.work',
          version: '1.0.0',
          sideEffects: 'none',
          run: async (ctx) => {
            ctx.state.set(
              'price',
              await ctx.effect('quote', {
                request: { item: 'tea' },
                sideEffects: 'none',
                perform: () => '4.20'
              })
            )
            return { stamp: stamp() }
          }
        })
      ]
    })

  it('P2: is compared with all that its receipt signs', async (context) => {
    const tally = await open(() => 7)
    await tally.begin(document, { id: 'order-17' }).result
    await shown(context, tally, '/runs/order-17?step=1.work', async (page) => {
      await again(page)
      await page.waitForSelector('text=are those that receipt 0 signs')
      expect(await page.textContent('body')).toContain('tea')
    })
    await tally.close()
  })

  it('P2: shows what is signed beside what came out otherwise', async (context) => {
    let stamp = 7
    const tally = await open(() => stamp)
    await tally.begin(document, { id: 'order-17' }).result
    stamp = 8
    await shown(context, tally, '/runs/order-17?step=1.work', async (page) => {
      await again(page)
      const difference = await page.waitForSelector('.dif:has-text("computed")')
      expect(await difference.textContent()).toMatch(/signed .*"stamp":7.*computed .*"stamp":8/s)
    })
    expectVerifyFailure('journal.response')
    await tally.close()
  })
})

describe('signals of a run', () => {
  it('B3: say which the code has taken and which it has not asked for', async (context) => {
    const block = defineBlock({
      name: 'order.work',
      version: '1.0.0',
      sideEffects: 'none',
      run: async (ctx) => [await ctx.signal('paid'), await ctx.signal('packed')]
    })
    const tally = await openOn(openMemoryStore(), { blocks: [block], random: systemRandom })
    const run = tally.begin(document, { id: 'order-17' })
    await run.signal('paid', { amount: '4.20' }, { id: 'evt-1' })
    await run.signal('refund', '<img src=x onerror=alert(1)>', { id: 'evt-2' })
    await until(async () => (await run.waits()).length === 1)
    await shown(context, tally, '/runs/order-17', async (page) => {
      await page.waitForSelector('text=Signals (2)')
      await page.waitForSelector('text=with the attempt at work')
      await page.waitForSelector('text=not asked for yet')
      await run.signal('packed', null, { id: 'evt-3' })
      await page.waitForSelector('text=Signals (3)')
      await page.waitForSelector('text=taken')
    })
    await run.result
    await tally.close()
  })
})

describe('a run that continues by itself', () => {
  const sleeps = defineBlock({
    name: 'order.work',
    version: '1.0.0',
    sideEffects: 'none',
    run: async (ctx) => {
      await ctx.sleep(3_600_000)
      return null
    }
  })
  const open = () =>
    openOn(openMemoryStore(), {
      blocks: [sleeps],
      clock: systemClock,
      queues: { orders: { concurrency: 1 } },
      random: systemRandom
    })

  it('B2: says until when it sleeps, and offers no answer', async (context) => {
    const tally = await open()
    const run = tally.begin(document, { id: 'order-17' })
    await until(async () => (await tally.runs({ name: 'order' })).items[0]?.status === 'waiting')
    await shown(context, tally, '/runs', async (page) => {
      await page.waitForSelector('.c-now:has-text("until ")')
      await page.getByText('order-17').click()
      await page.waitForSelector('.ban:has-text("Continues by itself at")')
      expect(await page.textContent('.ban')).toMatch(/in (59 min|1 h)/)
      await page.locator('.tl .lb').click()
      const wait = await page.waitForSelector('.card:has-text("poll")')
      expect(await wait.textContent()).toMatch(/due.*:/)
      expect(await wait.$('a')).toBeNull()
    })
    await run.cancel()
    await tally.close()
  })

  it('Q6: says the queue in which it waits for its turn', async (context) => {
    const tally = await open()
    const first = tally.begin(document, { id: 'first', queue: 'orders' })
    const second = tally.begin(document, { id: 'second', queue: 'orders' })
    await until(async () => (await tally.runs({ queued: true })).items.length === 1)
    await shown(context, tally, '/runs/second', async (page) => {
      await page.waitForSelector('.ban:has-text("Waits for its turn in the queue orders")')
      await page.goto(new URL('/runs', page.url()).href)
      await page.waitForSelector('.c-now:has-text("in queue orders")')
    })
    await second.cancel()
    await first.cancel()
    await tally.close()
  })
})
