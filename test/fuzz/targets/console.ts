import { ConsoleServer, type PageFiles } from '../../../src/console/index.js'
import { methodKind } from '../../../src/console/methods.js'
import { addressIn, addressText } from '../../../src/console/page/pure/addresses.js'
import {
  isJsonObject,
  type Json,
  type JsonObject,
  ManualClock,
  parse
} from '../../../src/core/index.js'
import { createRuntime, MEMORY_LOCATION, type WiredRuntime } from '../../../src/runtime/index.js'
import {
  encodeWaitPlace,
  parseWaitPlace,
  type WaitPlace
} from '../../../src/runtime/queries/find-waits.js'
import { Browser, rawAnswer } from '../../support/console/browser.js'
import { FakeService } from '../../support/console/fake-service.js'
import { lone, registrationsOf } from '../../support/walk/world.js'
import type { FuzzTarget } from '../target.js'

/** What the console reads: requests, addresses of its page, parameters and cursors of queries. */

const textOf = (input: Buffer) => input.toString('utf8')

interface OpenConsole {
  readonly server: ConsoleServer
  readonly service: FakeService
  readonly browser: Browser
}
let console: Promise<OpenConsole> | undefined

async function openConsole(): Promise<OpenConsole> {
  const service = new FakeService()
  const file = { type: 'text/html; charset=utf-8', bytes: Buffer.from('page') }
  const page: PageFiles = new Map([['/index.html', file]])
  const server = await ConsoleServer.open({ port: 0, handle: service.handle, page })
  return { server, service, browser: await Browser.open(server.link()) }
}

let last: Promise<unknown> = Promise.resolve()
/** One after the other: the service says what it was asked, and not by whom. */
function askConsole(input: Buffer): Promise<unknown> {
  const asking = last.then(() => askOnce(input))
  last = asking.catch(() => undefined)
  return asking
}

/** Methods that a request has come to, and how each was answered; `HOST` and `COOKIE` are ours. */
async function askOnce(input: Buffer): Promise<unknown> {
  console ??= openConsole()
  const { service, browser } = await console
  const { host, cookie = '' } = browser
  const raw = Buffer.from(
    input.toString('latin1').replaceAll('HOST', host).replaceAll('COOKIE', cookie),
    'latin1'
  )
  const before = service.asked.length
  const answer = await rawAnswer(host, raw)
  const statuses = [...answer.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => status)
  if (statuses.includes('500')) throw new Error(`it broke down: ${answer}`)
  const asked = service.asked.slice(before)
  // Whatever else stands in it, a request without the cookie and the addresses asks nothing.
  const isOurs = ['HOST', 'COOKIE'].every((name) => input.includes(name))
  if (asked.length > 0 && !isOurs) throw new Error(`it asked for ${JSON.stringify(asked)}`)
  return [statuses, asked]
}

let runtime: Promise<WiredRuntime> | undefined
/** A ledger with runs that have ended and that wait, and grants: each list has several pages. */
async function openLists(): Promise<WiredRuntime> {
  const clock = new ManualClock(1_700_000_000_000)
  const registrations = registrationsOf(() => undefined)
  const tally = await createRuntime({
    location: MEMORY_LOCATION,
    create: 'if-absent',
    clock,
    ...registrations
  })
  for (const id of ['a', 'b', 'c']) {
    await tally.begin(lone('act'), { id: `run-${id}` }).result
    const run = tally.begin(lone('ask'), { id: `waits-${id}` })
    for await (const { type } of run) if (type === 'run.parked') break
    const payload = { principal: { kind: 'agent', id }, subject: 'act' }
    await tally.intent({ action: 'system.grant', payload, id: `grant-${id}` })
    clock.advance(1_000)
  }
  return tally
}

/** What would work on all of the ledger, or on files. */
const others = new Set(['replay', 'verify', 'verifying', 'doctor'])
const EVENTS_MAX = 20

async function askQuery(input: Buffer): Promise<unknown> {
  const asked = parse(textOf(input))
  const { method, params = {} } = isJsonObject(asked) ? asked : ({} as JsonObject)
  const kind = typeof method === 'string' ? methodKind(method) : undefined
  if (typeof method !== 'string' || kind?.changes !== false || others.has(method)) return null
  runtime ??= openLists()
  const stop = new AbortController()
  const reply = (await runtime).service({ method, params, signal: stop.signal })
  if (!(Symbol.asyncIterator in reply)) return reply
  const events: Json[] = []
  // A feed has no end: what it gives until nothing comes is read.
  const timer = setTimeout(() => stop.abort(), FEED_MS)
  for await (const event of reply) {
    events.push(event)
    if (events.length === EVENTS_MAX) break
    timer.refresh()
  }
  clearTimeout(timer)
  return events
}

const FEED_MS = 50

/** What a link that a stranger made leads to is the same once the page has written it itself. */
function readAddress(input: Buffer): unknown {
  const [path = '', ...rest] = textOf(input).split('?')
  const first = addressIn(path, rest.join('?'))
  const text = addressText(first)
  const [path2 = '', search = ''] = text.split('?')
  const again = addressIn(path2, search)
  if (JSON.stringify(again) !== JSON.stringify(first) || !/^\/[a-z]+(?:[/?]|$)/.test(text)) {
    throw new Error(`${text} leads to ${JSON.stringify(again)}`)
  }
  return first
}

export async function closeConsole(): Promise<void> {
  await (await console)?.server.close()
  await (await runtime)?.close()
}

export const consoleTargets: Readonly<Record<string, FuzzTarget>> = {
  'console-requests': { readers: [], isSlow: true, read: askConsole },
  'query-calls': { readers: [], isSlow: true, read: askQuery },
  'list-cursors': {
    readers: ['runtime/queries/find-waits.ts#parseWaitPlace'],
    read: (input) => parseWaitPlace(textOf(input)),
    write: (place: WaitPlace) => encodeWaitPlace(place)
  },
  'page-addresses': { readers: [], read: readAddress }
}
