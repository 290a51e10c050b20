import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FeedBuffer } from '../../../src/console/feed-buffer.js'
import { ConsoleServer } from '../../../src/console/index.js'
import { limits, ManualClock } from '../../../src/core/index.js'
import type { FeedEvent } from '../../../src/runtime/index.js'
import { Browser, type Received } from '../../support/console/browser.js'
import { entryAt, FakeService } from '../../support/console/fake-service.js'

/** The feed over real HTTP on loopback, of a service that says what a test lets it say. */

const page = new Map([['/index.html', { type: 'text/html', bytes: Buffer.from('page') }]])

let clock: ManualClock
let service: FakeService
let server: ConsoleServer
beforeEach(async () => {
  clock = new ManualClock()
  service = new FakeService()
  server = await ConsoleServer.open({ port: 0, handle: service.handle, page, clock })
})
afterEach(() => server.close())

type Feed = ReturnType<Browser['feed']>

async function nextOf(feed: Feed): Promise<Received | 'comment'> {
  const { value, done } = await feed.next()
  if (done === true) throw new Error('the feed ended')
  return value
}

describe('the feed', () => {
  it('gives what has a place with its id, and what has none without', async () => {
    const browser = await Browser.open(server.link())
    const feed = browser.feed()
    const delta = { type: 'delta', runId: 'run', path: 'root', text: 'a\nb' }
    service.push(entryAt(1), delta)
    expect(await nextOf(feed)).toEqual({ id: '1.0', type: 'entry', data: entryAt(1) })
    expect(await nextOf(feed)).toEqual({ id: undefined, type: 'delta', data: delta })
    await feed.return(undefined)
    await expect.poll(() => service.followers).toBe(0)
  })

  it('continues after the last event that the page got, which goes before the address', async () => {
    const browser = await Browser.open(server.link())
    service.push(entryAt(1), entryAt(2), entryAt(3))
    const bySince = browser.feed('1.0')
    expect(await nextOf(bySince)).toMatchObject({ id: '2.0' })
    await bySince.return(undefined)
    const byLast = browser.feed('1.0', { 'last-event-id': '2.0' })
    expect(await nextOf(byLast)).toMatchObject({ id: '3.0' })
    await byLast.return(undefined)
    expect(service.asked.map(({ params }) => params)).toEqual([{ since: '1.0' }, { since: '2.0' }])
    for (const wrong of ['x', '1', '1.2.3', '-1.0', `${'1'.repeat(17)}.0`]) {
      expect((await browser.get(`/api/feed?since=${wrong}`)).status, wrong).toBe(400)
    }
  })

  it('asks for a pace where its address has one', async () => {
    const browser = await Browser.open(server.link())
    service.push(entryAt(1))
    const feed = browser.feed('0.0&paceMs=1000')
    await nextOf(feed)
    await feed.return(undefined)
    expect(service.asked.map(({ params }) => params)).toEqual([{ since: '0.0', paceMs: 1_000 }])
    for (const wrong of ['', '0', '-1', '1.5', 'x', '100000']) {
      expect((await browser.get(`/api/feed?paceMs=${wrong}`)).status, wrong).toBe(400)
    }
  })

  it('says every fifteen seconds that it is there', async () => {
    const browser = await Browser.open(server.link())
    const feed = browser.feed()
    service.push(entryAt(1))
    expect(await nextOf(feed)).toMatchObject({ id: '1.0' })
    for (const _ of [1, 2]) {
      clock.advance(limits.FEED_COMMENT_MS)
      expect(await nextOf(feed)).toBe('comment')
    }
    await feed.return(undefined)
  })

  it('keeps every other reader going where one does not read', async () => {
    const browser = await Browser.open(server.link())
    // Its answer is never read: what was sent fills the sockets, then the buffer.
    const stuck = browser.feed()
    service.push(entryAt(0))
    await nextOf(stuck)
    const reading = browser.feed('0.0')
    const count = 20 * limits.FEED_EVENTS_MAX
    const large = 'x'.repeat(1_000)
    for (let seq = 1; seq <= count; seq += 1) service.push({ ...entryAt(seq), entry: large })
    let last: Received | 'comment' = 'comment'
    let seen = 0
    while (last === 'comment' || last.id !== `${count}.0`) {
      last = await nextOf(reading)
      seen += 1
    }
    expect(seen).toBeLessThanOrEqual(count)
    await reading.return(undefined)
    await stuck.return(undefined)
    await expect.poll(() => service.followers).toBe(0)
  })

  it('ends with the server', async () => {
    const browser = await Browser.open(server.link())
    const feed = browser.feed()
    service.push(entryAt(1))
    await nextOf(feed)
    const next = feed.next()
    await Promise.all([server.close(), next.catch(() => undefined)])
    expect(service.followers).toBe(0)
    server = await ConsoleServer.open({ port: 0, handle: service.handle, page, clock })
  })
})

describe('what waits for a reader', () => {
  const event = (seq: number) => entryAt(seq) as unknown as FeedEvent
  const delta: FeedEvent = { type: 'delta', runId: 'run' as never, path: 'root', text: 'a' }

  it('Q4: is given in order, and is a reset to the last place once there is too much', async () => {
    const buffer = new FeedBuffer(undefined)
    for (let seq = 1; seq <= limits.FEED_EVENTS_MAX; seq += 1) buffer.push(event(seq))
    expect(await buffer.next()).toEqual(event(1))
    buffer.push(event(limits.FEED_EVENTS_MAX + 1))
    buffer.push(event(limits.FEED_EVENTS_MAX + 2))
    const place = `${limits.FEED_EVENTS_MAX + 2}.0`
    expect(await buffer.next()).toEqual({ type: 'reset', place })
    buffer.push(delta)
    buffer.end()
    expect(await buffer.next()).toEqual(delta)
    expect(await buffer.next()).toBeUndefined()
  })

  it('drops the oldest of what is no history while it knows no place', async () => {
    const buffer = new FeedBuffer(undefined)
    for (let count = 0; count <= limits.FEED_EVENTS_MAX; count += 1) buffer.push(delta)
    buffer.push(event(1))
    buffer.end()
    const got: FeedEvent[] = []
    for (let one = await buffer.next(); one !== undefined; one = await buffer.next()) got.push(one)
    expect(got.length).toBeLessThanOrEqual(limits.FEED_EVENTS_MAX)
    expect(got.at(-1)).toEqual({ type: 'reset', place: '1.0' })
  })
})
