import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, type TestContext } from 'vitest'
import type { OwnerHandler } from '../../src/ledger/index.js'
import { openChromium, withoutChromium } from '../support/console/chromium.js'
import { type FakeConsole, serveConsole } from '../support/console/fake-console.js'
import { FakeLedger } from '../support/console/fake-ledger.js'

/**
 * Pages that are not the console, in the browser of a person who has the console open: what a real
 * browser lets them send, and what they see of what comes back (K13; SECURITY.md, "Console").
 */

/** A name that leads to this machine, as one of a stranger does after DNS rebinding. */
const REBOUND = 'rebound.example'

let browser: Browser | undefined
let stranger: Server
let ledger: FakeLedger
let served: Omit<FakeConsole, 'send'>
/** Methods that came through to the service. */
let asked: string[]

const script = readFileSync(new URL('../support/console/stranger.js', import.meta.url), 'utf8')

const browserOf = ({ skip }: TestContext): Browser => browser ?? skip(withoutChromium)
const portOf = (server: Server) => (server.address() as AddressInfo).port

beforeAll(async () => {
  browser = await openChromium([`--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`])
  stranger = createServer((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(`<!doctype html><title>stranger</title><body><script>${script}</script>`)
  })
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await browser?.close()
  stranger.close()
})
beforeEach(async () => {
  ledger = new FakeLedger()
  asked = []
  const handle: OwnerHandler = (request) => {
    asked.push(request.method)
    return ledger.handle(request)
  }
  served = await serveConsole(handle)
  return () => served.close()
})

/** The browser of a person whose console is open in it, and has asked what it asks. */
async function withConsole(context: TestContext): Promise<BrowserContext> {
  const person = await browserOf(context).newContext()
  const page = await person.newPage()
  await page.goto(served.link('/runs'))
  await page.waitForSelector('text=july')
  await page.close()
  expect(await person.cookies(served.origin)).toHaveLength(1)
  asked = []
  return person
}

/** Everything that a page of another origin can send, and what it got. */
async function attack(page: Page): Promise<readonly string[]> {
  const [wait] = ledger.openWaits()
  const answer = JSON.stringify({
    ...{ id: wait?.runId, token: wait?.wait.token, digest: wait?.wait.digest, action: 'approve' }
  })
  return page.evaluate<readonly string[]>(
    `attack(${JSON.stringify({ origin: served.origin, body: answer })})`
  )
}

describe('a page of another origin, while the console is open in the same browser', () => {
  it.for([
    ['on another port of the same address, with which cookies are shared', '127.0.0.1'],
    ['on another name of the same machine', 'localhost'],
    ['on a name that leads to this machine', REBOUND]
  ])('%s, reads nothing and does nothing', async ([, host], context) => {
    const person = await withConsole(context)
    const page = await person.newPage()
    await page.goto(`http://${host}:${portOf(stranger)}/`)
    expect(await attack(page)).toEqual([])
    expect(asked).toEqual([])
    expect(ledger.answers).toEqual([])
    await person.close()
  })
})

describe('an address of the console', () => {
  /** What a person sees who goes there in a browser of their own. */
  async function seen(context: TestContext, address: string): Promise<string> {
    const person = await browserOf(context).newContext()
    const page = await person.newPage()
    await page.goto(address)
    await page.waitForLoadState('networkidle')
    const text = (await page.textContent('body')) ?? ''
    await person.close()
    return text
  }

  it('shows nothing without a token of its own that was not used yet', async (context) => {
    const other = await serveConsole(ledger.handle)
    const used = served.link('/runs')
    expect(await seen(context, used)).toContain('july')
    asked = []
    const [, foreign = ''] = other.link('/runs').split('#')
    await other.close()
    for (const address of [`${served.origin}/runs`, used, `${served.origin}/runs#${foreign}`]) {
      expect(await seen(context, address), address).not.toContain('july')
    }
    expect(asked).toEqual([])
  })

  it('is refused by any other name that leads here, with its token', async (context) => {
    const { port } = new URL(served.origin)
    for (const host of [REBOUND, 'localhost']) {
      const text = await seen(
        context,
        served.link('/runs').replace(/\/\/[^/]+/, `//${host}:${port}`)
      )
      expect(text, host).toContain('its Host is not the address of this console')
    }
    expect(asked).toEqual([])
  })
})

describe('a session', () => {
  it('ends with its console, also where the next one has the same port', async (context) => {
    const person = await withConsole(context)
    await served.close()
    const { port } = new URL(served.origin)
    served = await serveConsole(ledger.handle, Number(port))
    const page = await person.newPage()
    await page.goto(`${served.origin}/runs`)
    await page.waitForLoadState('networkidle')
    expect(await page.textContent('body')).not.toContain('july')
    await person.close()
  })
})
