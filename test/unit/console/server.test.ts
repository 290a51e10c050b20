import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConsoleServer, type PageFiles } from '../../../src/console/index.js'
import { limits, ManualClock } from '../../../src/core/index.js'
import { type Asked, Browser, rawAnswer } from '../../support/console/browser.js'
import { FakeService } from '../../support/console/fake-service.js'

/** The console's server over real HTTP on loopback: what console.md says of its security. */

const file = (type: string, text: string) => ({ type, bytes: Buffer.from(text) })
const page: PageFiles = new Map([
  ['/index.html', file('text/html; charset=utf-8', '<!doctype html>page')],
  ['/main.js', file('text/javascript; charset=utf-8', 'script')]
])

let clock: ManualClock
let service: FakeService
let server: ConsoleServer
beforeEach(async () => {
  clock = new ManualClock()
  service = new FakeService()
  server = await ConsoleServer.open({ port: 0, handle: service.handle, page, clock })
})
afterEach(() => server.close())

const attacker = 'attacker.example'

/** Requests that a page of the console would not send; `{host}` stands for its address. */
const strange: readonly (readonly [title: string, status: number, change: Asked['headers']])[] = [
  ['the name of a stranger as Host', 403, { host: attacker }],
  ['localhost as Host', 403, { host: 'localhost:{port}' }],
  ['Host without its port', 403, { host: '127.0.0.1' }],
  ['Host with another port', 403, { host: '127.0.0.1:1' }],
  ['Host with a dot at its end', 403, { host: '127.0.0.1.:{port}' }],
  ['another form of the address as Host', 403, { host: '127.1:{port}' }],
  ['an unspecified address as Host', 403, { host: '0.0.0.0:{port}' }],
  ['the Origin of a stranger', 403, { origin: `http://${attacker}` }],
  ['Origin null', 403, { origin: 'null' }],
  ['the Origin of another port', 403, { origin: 'http://127.0.0.1:1' }],
  ['Origin over TLS', 403, { origin: 'https://{host}' }],
  ['the Origin of the other address', 403, { origin: 'http://localhost:{port}' }],
  ['Sec-Fetch-Site cross-site', 403, { 'sec-fetch-site': 'cross-site' }],
  ['Sec-Fetch-Site same-site', 403, { 'sec-fetch-site': 'same-site' }],
  ['no Sec-Fetch-Site', 403, { 'sec-fetch-site': undefined }]
]
/** What only posts can lack. */
const strangePosts: typeof strange = [
  ['no Origin', 403, { origin: undefined }],
  ['no X-Tally', 403, { 'x-tally': undefined }],
  ['another X-Tally', 403, { 'x-tally': '0' }],
  ['a form as its body', 415, { 'content-type': 'application/x-www-form-urlencoded' }],
  ['text as its body', 415, { 'content-type': 'text/plain' }],
  ['no type of its body', 415, { 'content-type': undefined }],
  ['a body that is packed', 415, { 'content-encoding': 'gzip' }],
  ['a body over the limit', 413, { 'content-length': `${limits.OWNER_REQUEST_BYTES_MAX + 1}` }]
]
/** What needs a session, and what opens one. */
const requests: readonly (readonly [string, Asked])[] = [
  ['a write', { method: 'POST', path: '/api/message', body: '{}' }],
  ['a reading', { method: 'POST', path: '/api/status', body: '{}' }],
  ['a stream', { method: 'POST', path: '/api/runs', body: '{}' }],
  ['the feed', { path: '/api/feed' }],
  ['the page', { path: '/' }],
  ['a file of the page', { path: '/main.js' }],
  ['a session', { method: 'POST', path: '/session', body: '{}' }]
]
const table = requests.flatMap(([name, asked]) =>
  (asked.method === 'POST' ? [...strange, ...strangePosts] : strange).map(
    ([title, status, change]) => [name, title, { asked, status, change }] as const
  )
)

const filled = (headers: Asked['headers'] = {}, host: string) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value?.replace('{host}', host).replace('{port}', new URL(`http://${host}`).port)
    ])
  )

describe('a request that is not of the page', () => {
  it.each(table)('is refused: %s with %s', async (_, __, { asked, status, change }) => {
    const browser = await Browser.open(server.link())
    const headers = filled(change, browser.host)
    const answer = await browser.ask({ ...asked, headers })
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.text).error.code).toBe('console.refused')
    expect(service.asked).toEqual([])
  })

  it('is refused with two Hosts, two Origins, or an address that is no path', async () => {
    const [host = ''] = server.hosts
    const head = (lines: readonly string[], path = '/') =>
      [`GET ${path} HTTP/1.1`, ...lines, 'sec-fetch-site: none', 'connection: close', '', ''].join(
        '\r\n'
      )
    const own = `host: ${host}`
    expect(await rawAnswer(host, head([own]))).toMatch(/^HTTP\/1.1 200 /)
    for (const wrong of [
      head([own, `host: ${attacker}`]),
      head([`host: ${attacker}`, own]),
      head([own, `origin: http://${host}`, `origin: http://${attacker}`]),
      head([own], `http://${attacker}/`),
      head([own], '*'),
      head([])
    ]) {
      expect(await rawAnswer(host, wrong), wrong).toMatch(/^HTTP\/1.1 40[03] /)
    }
  })
})

describe('a session', () => {
  it.each(requests.slice(0, 4))('is needed for %s', async (_, asked) => {
    const browser = new Browser(server.link())
    expect((await browser.ask(asked)).status).toBe(401)
    const guessed = `tally_${new URL(server.link()).port}=guessed`
    expect((await browser.ask({ ...asked, headers: { cookie: guessed } })).status).toBe(401)
    expect(service.asked).toEqual([])
  })

  it('is opened once by a link, within a minute, and by nothing else', async () => {
    const link = server.link()
    expect(Buffer.from(new URL(link).hash.slice('#token='.length), 'base64url')).toHaveLength(32)
    const browser = new Browser(link)
    for (const token of ['', 'guessed', link]) {
      expect((await browser.enter(token)).status).toBe(401)
    }
    const { status, headers } = await browser.enter()
    expect(status).toBe(200)
    const { port } = new URL(link)
    expect(headers['set-cookie']?.[0]).toMatch(
      new RegExp(`^tally_${port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/$`)
    )
    expect((await new Browser(link).enter()).status).toBe(401)
    const late = new Browser(server.link())
    clock.advance(limits.CONSOLE_LINK_MS)
    expect((await late.enter()).status).toBe(401)
    expect(await browser.call('status')).toMatchObject({ method: 'status' })
  })

  it('says what the command was asked to show, also after the page was loaded again', async () => {
    const browser = await Browser.open(server.link())
    const again = await browser.post('/session', '{}')
    expect(JSON.parse(again.text)).toEqual({ result: { readOnly: false, run: null } })
    expect(again.headers['set-cookie']).toBeUndefined()
  })

  it('is one of many; the oldest ends where there are too many', async () => {
    const browsers: Browser[] = []
    for (let count = 0; count <= limits.CONSOLE_SESSIONS_MAX; count += 1) {
      browsers.push(await Browser.open(server.link()))
    }
    const [oldest, second] = browsers
    expect((await oldest?.post('/api/status', '{}'))?.status).toBe(401)
    expect((await second?.post('/api/status', '{}'))?.status).toBe(200)
  })
})

describe('an answer', () => {
  it('has the headers that keep the page to itself, whatever it says', async () => {
    const browser = await Browser.open(server.link())
    const answers = [
      await browser.get('/'),
      await browser.get('/main.js'),
      await browser.get('/nothing'),
      await browser.post('/api/status', '{}'),
      await browser.get('/', { host: attacker })
    ]
    for (const { headers } of answers) {
      expect(headers).toMatchObject({
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; " +
          "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
          "frame-ancestors 'none'; require-trusted-types-for 'script'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin'
      })
      expect(Object.keys(headers).join()).not.toContain('access-control')
    }
  })

  it('is the page at each of its addresses, and nothing outside of the page at any', async () => {
    const browser = new Browser(server.link())
    for (const path of ['/', '/runs?status=waiting', '/runs/a%2Fb?at=5', '/waits/t', '/health']) {
      expect((await browser.get(path)).text, path).toContain('page')
    }
    expect((await browser.get('/main.js')).text).toBe('script')
    for (const path of [
      '/main.js/',
      '/../package.json',
      '/%2e%2e/package.json',
      '/..%2fpackage.json',
      '//etc/passwd',
      '/main.js%00.html',
      '/%5c..%5cpackage.json',
      '/page',
      '/runsx',
      '/session/',
      '/__proto__',
      '/constructor'
    ]) {
      expect((await browser.get(path)).status, path).toBe(404)
    }
  })

  it('names the methods that an address takes', async () => {
    const browser = await Browser.open(server.link())
    const wrong: readonly (readonly [string, string, string])[] = [
      ['PUT', '/', 'GET, HEAD, POST'],
      ['DELETE', '/api/status', 'GET, HEAD, POST'],
      ['OPTIONS', '/api/status', 'GET, HEAD, POST'],
      ['GET', '/api/status', 'POST'],
      ['GET', '/session', 'POST'],
      ['POST', '/api/feed', 'GET'],
      ['POST', '/main.js', 'GET, HEAD']
    ]
    for (const [method, path, allow] of wrong) {
      const headers = { origin: `http://${browser.host}` }
      const answer = await browser.ask({ method, path, headers, body: '' })
      expect([answer.status, answer.headers['allow']], `${method} ${path}`).toEqual([405, allow])
    }
  })

  it('refuses an address and headers that are too long', async () => {
    const browser = await Browser.open(server.link())
    const path = `/${'a'.repeat(limits.CONSOLE_ADDRESS_LENGTH_MAX)}`
    expect((await browser.get(path)).status).toBe(414)
    const long = 'a'.repeat(limits.CONSOLE_HEADER_BYTES_MAX)
    expect((await browser.get('/', { long })).status).toBe(431)
  })
})

describe('a method of the service', () => {
  it('gets its parameters, and gives its result or its error', async () => {
    const browser = await Browser.open(server.link())
    expect(await browser.call('chart', { id: 'run' })).toMatchObject({ method: 'chart' })
    expect(service.asked).toEqual([{ method: 'chart', params: { id: 'run' } }])
    const missing = await browser.post('/api/show', '{"id":"none"}')
    expect(missing.status).toBe(404)
    expect(JSON.parse(missing.text).error).toMatchObject({ code: 'run.not_found' })
    for (const method of ['nothing', '__proto__', 'constructor', 'status/', '']) {
      expect((await browser.post(`/api/${method}`, '{}')).status, method).toBe(404)
    }
    expect((await browser.post('/api/status', '{"a":1,"a":2}')).status).toBe(422)
  })

  it('sends the events of a stream, then its end or its failure', async () => {
    const browser = await Browser.open(server.link())
    const all = async (method: string) => {
      const got: unknown[] = []
      const asked = { method: 'POST', path: `/api/${method}`, body: '{}' }
      for await (const event of browser.events(asked)) got.push(event)
      return got
    }
    expect(await all('runs')).toEqual([
      { type: 'message', data: { id: 'first' } },
      { type: 'message', data: { id: 'second' } },
      { type: 'end', data: null }
    ])
    expect(await all('receipts')).toMatchObject([
      { data: { index: 0 } },
      { type: 'failed', data: { error: { code: 'ledger.closed' } } }
    ])
  })

  it('is not done where it changes something and the console is read-only', async () => {
    const readOnly = { port: 0, handle: service.handle, page, isReadOnly: true, run: 'first' }
    const other = await ConsoleServer.open(readOnly)
    try {
      const browser = await Browser.open(other.link())
      const writes = ['answer', 'cancel', 'export', 'install', 'intent', 'message', 'recheck']
      for (const method of [...writes, 'resolve', 'resume', 'run']) {
        const answer = await browser.post(`/api/${method}`, '{}')
        expect(answer.status, method).toBe(403)
        expect(JSON.parse(answer.text).error.code).toBe('console.read_only')
      }
      expect(service.asked).toEqual([])
      expect(await browser.call('status')).toMatchObject({ readOnly: true })
      const again = await browser.post('/session', '{}')
      expect(JSON.parse(again.text)).toEqual({ result: { readOnly: true, run: 'first' } })
    } finally {
      await other.close()
    }
  })
})
