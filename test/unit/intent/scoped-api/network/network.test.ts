import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { type Json, Redactor } from '../../../../../src/core/index.js'
import { createScopedApi, type NetworkOptions, secretsOf } from '../../../../../src/intent/index.js'
import type { ResolveHost } from '../../../../../src/intent/scoped-api/network/addresses.js'
import { networkCapability } from '../../../../../src/intent/scoped-api/network/network.js'
import { type Answer, Guest } from '../host.js'

const LOCAL = { address: '127.0.0.1', family: 4 } as const

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

type Handler = (
  request: IncomingMessage & { readonly text: string },
  response: ServerResponse
) => void

/** A real server on this machine; gives its port. */
async function serve(handler: Handler): Promise<number> {
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += String(chunk)
    })
    request.on('end', () => handler(Object.assign(request, { text }), response))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** A package that may ask these hosts, all of which are this machine; it hears what is sealed. */
function asker(
  options: NetworkOptions & { readonly hosts?: readonly string[] } = {}
): (request: Json) => Promise<Answer> {
  const { hosts = ['api.test'], ...network } = options
  const redactor = new Redactor()
  const guest = new Guest({
    api: createScopedApi({
      redactor,
      network: { policy: { allowLoopback: true }, resolve: async () => [LOCAL], ...network }
    }),
    capabilities: [{ name: 'network.request', inputs: { hosts: [...hosts] } }]
  })
  return async (request) => {
    const answer = await guest.ask('network.request', request)
    return redactor.json(answer as unknown as Json) as unknown as Answer
  }
}

const echo: Handler = (request, response) => {
  response.setHeader('content-type', 'application/json')
  response.setHeader('set-cookie', 'session=1')
  response.end(JSON.stringify({ method: request.method, headers: request.headers }))
}

describe('network.request', () => {
  it('gives status, some headers and the body', async () => {
    const port = await serve(echo)
    const answer = await asker()({ url: `http://api.test:${port}/a?b=c` })
    expect(answer).toMatchObject({
      ok: true,
      result: {
        status: 200,
        url: `http://api.test:${port}/a?b=c`,
        headers: { 'content-type': 'application/json' },
        encoding: 'utf8'
      }
    })
    expect(JSON.stringify(answer)).not.toContain('session=1')
  })

  it('gives bytes that are no text as base64, and any status as an answer', async () => {
    const port = await serve((_request, response) => {
      response.statusCode = 503
      response.end(Buffer.from([0xff, 0xfe, 0]))
    })
    const answer = await asker()({ url: `http://api.test:${port}/` })
    expect(answer.result).toMatchObject({ status: 503, encoding: 'base64', body: '//4A' })
  })

  it('H5: asks no host that the manifest does not name, or that the policy leaves out', async () => {
    let asked = 0
    const port = await serve((_request, response) => {
      asked += 1
      response.end()
    })
    const url = `http://other.test:${port}/`
    expect(await asker()({ url })).toMatchObject({ reason: 'host_not_allowed' })
    expect(await asker({ hosts: [] })({ url })).toMatchObject({ reason: 'host_not_allowed' })
    const narrowed = asker({
      hosts: ['other.test'],
      policy: { allowLoopback: true, hosts: ['api.test'] }
    })
    expect(await narrowed({ url })).toMatchObject({ reason: 'host_not_allowed' })
    expect(asked).toBe(0)
  })

  it('H5: a star stands for longer names only', async () => {
    const port = await serve(echo)
    const ask = asker({ hosts: ['*.api.test'] })
    expect(await ask({ url: `http://eu.api.test:${port}/` })).toMatchObject({ ok: true })
    for (const host of ['api.test', 'evilapi.test', 'api.test.evil.test']) {
      const answer = await ask({ url: `http://${host}:${port}/` })
      expect(answer).toMatchObject({ reason: 'host_not_allowed' })
    }
  })

  it('H6: refuses this machine, private addresses, and one bad address among good ones', async () => {
    const port = await serve(echo)
    const url = `http://api.test:${port}/`
    const answers: readonly ResolveHost[] = [
      async () => [LOCAL],
      async () => [{ address: '10.1.2.3', family: 4 }],
      async () => [{ address: '93.184.216.34', family: 4 }, LOCAL],
      async () => [{ address: '::ffff:127.0.0.1', family: 6 }],
      async () => [{ address: '169.254.169.254', family: 4 }]
    ]
    for (const resolve of answers) {
      const answer = await asker({ policy: {}, resolve })({ url })
      expect(answer).toMatchObject({ ok: false, reason: 'address_not_allowed' })
    }
  })

  it('H6: connects to the address that was looked at, not to a later answer', async () => {
    const port = await serve(echo)
    let asked = 0
    const rebinding: ResolveHost = async () => {
      asked += 1
      return asked === 1 ? [LOCAL] : [{ address: '10.1.2.3', family: 4 }]
    }
    const answer = await asker({ resolve: rebinding })({ url: `http://api.test:${port}/` })
    expect(answer).toMatchObject({ ok: true })
    expect(asked).toBe(1)
  })

  it('asks without TLS only on this machine', async () => {
    const resolve: ResolveHost = async () => [{ address: '93.184.216.34', family: 4 }]
    expect(await asker({ resolve })({ url: 'http://api.test/' })).toMatchObject({
      reason: 'tls_required'
    })
    const inside: ResolveHost = async () => [{ address: '10.1.2.3', family: 4 }]
    const policy = { privateHosts: ['api.test'] }
    expect(await asker({ resolve: inside, policy })({ url: 'http://api.test/' })).toMatchObject({
      reason: 'tls_required'
    })
  })

  it('H6: looks at where a redirect leads as at a request', async () => {
    const port = await serve((request, response) => {
      const to = request.url === '/far' ? 'http://evil.test/' : '/here'
      if (request.url === '/here') response.end('arrived')
      else response.writeHead(302, { location: to }).end()
    })
    const ask = asker()
    expect(await ask({ url: `http://api.test:${port}/near` })).toMatchObject({
      ok: true,
      result: { body: 'arrived', url: `http://api.test:${port}/here` }
    })
    expect(await ask({ url: `http://api.test:${port}/far` })).toMatchObject({
      ok: false,
      reason: 'host_not_allowed'
    })
  })

  it('ends a circle of redirects', async () => {
    const port = await serve((_request, response) => {
      response.writeHead(301, { location: '/again' }).end()
    })
    expect(await asker()({ url: `http://api.test:${port}/` })).toMatchObject({
      reason: 'too_many_redirects'
    })
  })

  it('H8: sends a write with its key, once, and does not follow it on', async () => {
    const seen: { readonly key: unknown; readonly text: string }[] = []
    const port = await serve((request, response) => {
      seen.push({ key: request.headers['idempotency-key'], text: request.text })
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    const request = { url: `http://api.test:${port}/`, method: 'POST', body: 'pay' }
    expect(await asker()(request)).toMatchObject({ ok: true, result: { status: 307 } })
    expect(seen).toEqual([{ key: expect.stringMatching(/^[0-9a-f]{64}$/), text: 'pay' }])
  })

  it('hands the trace of its effect on, and neither request nor answer has anything of it', async () => {
    const seen: unknown[] = []
    const port = await serve((request, response) => {
      seen.push(request.headers['traceparent'])
      response.end('heard')
    })
    const { perform } = networkCapability({
      redactor: new Redactor(),
      policy: { allowLoopback: true },
      resolve: async () => [LOCAL]
    })
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    const request = { url: `http://api.test:${port}/` }
    const call = { key: 'k', request, signal: new AbortController().signal }
    const entry = { name: 'network.request', inputs: { hosts: ['api.test'] } }
    const traced = await perform({ ...call, traceparent }, { entry } as never)
    expect(await perform(call, { entry } as never)).toEqual(traced)
    expect(seen).toEqual([traceparent, undefined])
  })

  it('has the side-effect class of its method', async () => {
    const port = await serve(echo)
    const guest = new Guest({
      api: createScopedApi({
        network: { policy: { allowLoopback: true }, resolve: async () => [LOCAL] }
      }),
      capabilities: [{ name: 'network.request', inputs: { hosts: ['api.test'] } }]
    })
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      await guest.result('network.request', { url: `http://api.test:${port}/`, method })
    }
    expect(guest.effects.map(({ options }) => options.sideEffects)).toEqual([
      'none',
      'none',
      ...Array.from({ length: 4 }, () => 'idempotent')
    ])
  })

  it('ends what takes too long, and says so', async () => {
    const port = await serve(() => undefined)
    const answer = await asker()({ url: `http://api.test:${port}/`, timeoutMs: 50 })
    expect(answer).toMatchObject({ ok: false, reason: 'timed_out' })
  })

  it('waits no longer for a name than for an answer', async () => {
    const never = asker({ resolve: () => new Promise(() => undefined) })
    const answer = await never({ url: 'https://api.test/', method: 'POST', timeoutMs: 50 })
    expect(answer).toMatchObject({ ok: false, reason: 'timed_out' })
  })

  it('H6: unpacks nothing, so that a small answer stays small', async () => {
    const zeros = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    let asked: unknown
    const port = await serve((request, response) => {
      asked = request.headers['accept-encoding']
      response.setHeader('content-encoding', 'gzip')
      response.end(zeros)
    })
    const { result } = await asker()({ url: `http://api.test:${port}/` })
    expect(asked).toBe('identity')
    expect(result).toMatchObject({ encoding: 'base64', body: zeros.toString('base64') })
  })

  it('breaks off an answer that is too large', async () => {
    const port = await serve((_request, response) => {
      response.end(Buffer.alloc(1024 * 1024 + 1, 97))
    })
    expect(await asker()({ url: `http://api.test:${port}/` })).toMatchObject({
      ok: false,
      reason: 'response_too_large'
    })
  })

  it('takes a status for a failure when the request says so', async () => {
    const port = await serve((_request, response) => response.writeHead(503).end())
    const request = { url: `http://api.test:${port}/`, method: 'POST', okOnly: true }
    expect(await asker()(request)).toMatchObject({
      ok: false,
      reason: 'bad_status',
      details: { status: 503 }
    })
  })

  it('says that a server cannot be reached', async () => {
    expect(await asker()({ url: 'http://api.test:1/' })).toMatchObject({
      ok: false,
      reason: 'not_connected'
    })
  })

  it.each([
    ['file:///etc/passwd'],
    ['ftp://api.test/'],
    ['http://user:secret@api.test/'],
    ['http://2130706433/'],
    ['http://0x7f.1/'],
    ['http://127.1/'],
    ['http://0177.0.0.1/'],
    ['http://127.0.0.1%00.api.test/'],
    ['http://[::ffff:127.0.0.1]/'],
    ['http+unix://%2Frun%2Fowner.sock/'],
    ['unix:/run/owner.sock'],
    ['data:text/plain,1'],
    ['http://ａpi.test/'],
    ['//api.test/'],
    ['http:///api.test/'],
    ['http:\\\\api.test/'],
    [' http://api.test/']
  ])('refuses the URL %j before anything is asked', async (url) => {
    expect(await asker()({ url })).toMatchObject({ ok: false, reason: 'invalid_request' })
  })

  it.each([
    [{ host: 'evil.test' }],
    [{ 'content-length': '3' }],
    [{ cookie: 'a=b' }],
    [{ 'idempotency-key': 'mine' }],
    [{ 'x-a': 'b\r\nx-c: d' }],
    [{ 'X-A': 'b' }]
  ])('refuses the headers %j', async (headers) => {
    const answer = await asker()({ url: 'http://api.test/', headers })
    expect(answer).toMatchObject({ ok: false, reason: 'invalid_request' })
  })
})

describe('secrets of network.request', () => {
  const canary = 'canary/+feather'
  const secrets = secretsOf({ BANK_TOKEN: `${canary}\n`, EMPTY: '' })
  const policy = {
    allowLoopback: true,
    secrets: [{ reference: 'env:BANK_TOKEN', hosts: ['api.test'], packages: ['guest'] }]
  }
  const headers = { authorization: { secret: 'env:BANK_TOKEN', prefix: 'Bearer ' } }

  it('H7: reach the server, and come back as their name', async () => {
    let seen: unknown
    const port = await serve((request, response) => {
      seen = request.headers.authorization
      response.setHeader('location', `/next?token=${encodeURIComponent(canary)}`)
      const spellings = [canary, JSON.stringify(canary), Buffer.from(canary).toString('base64')]
      response.end(spellings.join(' '))
    })
    const answer = await asker({ policy, secrets })({ url: `http://api.test:${port}/`, headers })
    expect(seen).toBe(`Bearer ${canary}`)
    expect(answer.result).toMatchObject({
      body: '[env:BANK_TOKEN] "[env:BANK_TOKEN]" [env:BANK_TOKEN]'
    })
    const told = JSON.stringify(answer)
    expect(told).not.toContain('canary')
    expect(told).not.toContain('feather')
  })

  it('go to hosts and with packages that were named, and nowhere else', async () => {
    let asked = 0
    const port = await serve((_request, response) => {
      asked += 1
      response.end()
    })
    const refusals: readonly NetworkOptions[] = [
      { policy: { allowLoopback: true }, secrets },
      { policy: { ...policy, secrets: [{ ...policy.secrets[0], hosts: ['b.test'] }] as never } },
      { policy: { ...policy, secrets: [{ ...policy.secrets[0], packages: ['b'] }] as never } }
    ]
    for (const options of refusals) {
      const answer = await asker({ secrets, ...options })({
        url: `http://api.test:${port}/`,
        headers
      })
      expect(answer).toMatchObject({ reason: 'secret_not_allowed' })
    }
    expect(asked).toBe(0)
  })

  it('are not told by what their source throws', async () => {
    const broken = async () => {
      throw new Error(`cannot decode ${canary}`)
    }
    const answer = await asker({ policy, secrets: broken })({ url: 'http://api.test:1/', headers })
    expect(answer).toMatchObject({ ok: false, reason: 'secret_missing' })
    expect(JSON.stringify(answer)).not.toContain(canary)
  })

  it('that are not there end the request before it is sent', async () => {
    const wanted = { ...policy, secrets: [{ reference: 'env:EMPTY', hosts: ['api.test'] }] }
    const ask = asker({ policy: wanted, secrets })
    const request = { url: 'http://api.test:1/', headers: { 'x-key': { secret: 'env:EMPTY' } } }
    expect(await ask(request)).toMatchObject({
      reason: 'secret_missing',
      details: { reference: 'env:EMPTY' }
    })
  })

  it('do not follow a redirect to another host', async () => {
    const seen: (string | undefined)[] = []
    const port = await serve((request, response) => {
      seen.push(request.headers.authorization)
      if (request.headers.host?.startsWith('api.test') === true) {
        response.writeHead(302, { location: `http://b.test:${port}/` }).end()
      } else response.end('b')
    })
    const ask = asker({ policy, secrets, hosts: ['api.test', 'b.test'] })
    const answer = await ask({ url: `http://api.test:${port}/`, headers })
    expect(answer.result).toMatchObject({ body: 'b' })
    expect(seen).toEqual([`Bearer ${canary}`, undefined])
  })
})
