import { chmod, chown, mkdir, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type IdentityId,
  type Json,
  ledgerError,
  limits,
  ManualClock
} from '../../../../src/core/index.js'
import {
  type OwnerHandler,
  OwnerSocket,
  type ServeOptions
} from '../../../../src/ledger/owner/index.js'
import {
  connectOwner,
  hasOwner,
  type RuntimeEnvironment,
  runtimeDirectoryProblems
} from '../../../../src/owner/index.js'
import {
  prepareSocketAddress,
  socketAddresses,
  unsafety
} from '../../../../src/owner/socket-path.js'

const identity = 'a'.repeat(64) as IdentityId
let directory: string
let realPath: string
let environment: RuntimeEnvironment
const open: OwnerSocket[] = []
beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'tally-owner-')))
  realPath = join(directory, 'ledger')
  environment = {
    runtimeDirectory: directory,
    temporaryDirectory: join(directory, 'tmp'),
    userId: process.getuid?.() ?? 0
  }
})
afterEach(async () => {
  for (const socket of open.splice(0)) await socket.close()
  await rm(directory, { recursive: true, force: true })
})

async function listening(
  handle: OwnerHandler,
  { at = environment, ...more }: Partial<ServeOptions> & { at?: RuntimeEnvironment } = {}
) {
  const socket = await bound(at)
  socket.serve({ identity, handle, ...more })
  return socket
}

async function bound(at: RuntimeEnvironment) {
  const socket = await OwnerSocket.bind(realPath, at)
  open.push(socket)
  return socket
}

async function connected() {
  const client = await connectOwner(realPath, { environment })
  if (client === undefined) throw new Error('nobody is there')
  return client
}

/**
 * Makes a directory another user's, and says how it is described. Only the superuser can: others
 * leave it open to all, which is passed over in the same way.
 */
async function givenAway(path: string): Promise<string> {
  if (process.getuid?.() === 0) {
    await chown(path, OTHER_USER, OTHER_USER)
    return `it belongs to user ${OTHER_USER} (mode 0700)`
  }
  await chmod(path, 0o777)
  return 'other users can enter it (mode 0777)'
}

const OTHER_USER = 65_534

const echo: OwnerHandler = async ({ method, params }) => ({ method, params })
const code = (value: string) => expect.objectContaining({ code: value })

describe('the owner socket', () => {
  it('L11: lies in a private directory under the hash of the real path', async () => {
    const { path } = await listening(echo)
    expect(path).toMatch(/\/tallystick\/tally-[0-9a-f]{16}\.sock$/)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await stat(dirname(path))).mode & 0o777).toBe(0o700)
  })

  it('L11: greets with the ledger, and answers requests', async () => {
    await listening(echo)
    const client = await connected()
    expect(client.ledger).toEqual({ realPath, identity, ledgerVersion: 1 })
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => client.request('echo', { at, text: 'é\n\u2028' }))
    )
    expect(answers[7]).toEqual({ method: 'echo', params: { at: 7, text: 'é\n\u2028' } })
    client.close()
    await expect(client.request('echo', {})).rejects.toEqual(code('owner.disconnected'))
  })

  it('begins requests in their order, long ones among them, and ends with one that is none', async () => {
    const begun: string[] = []
    await listening(async (request) => {
      begun.push(request.method)
      return echo(request) as Promise<Json>
    })
    const client = await connected()
    const long = { list: Array.from({ length: 200_000 }, (_, at) => at) }
    const asked = ['a', 'b', 'c', 'd'].map((method, at) =>
      client.request(method, at % 2 === 0 ? long : at)
    )
    expect(await Promise.all(asked)).toEqual([
      { method: 'a', params: long },
      { method: 'b', params: 1 },
      { method: 'c', params: long },
      { method: 'd', params: 3 }
    ])
    expect(begun).toEqual(['a', 'b', 'c', 'd'])
    const malformed = `{"id":1,"method":"e","params":[${'7,'.repeat(100_000)}]}\n`
    const socket = connect(open[0]?.path ?? '')
    socket.write(`${malformed}{"id":2,"method":"f","params":null}\n`)
    await new Promise((resolve) => socket.resume().once('close', resolve))
    expect(begun).toEqual(['a', 'b', 'c', 'd'])
  })

  it('L11: a missing owner and a stale socket are both undefined', async () => {
    expect(await connectOwner(realPath, { environment })).toBeUndefined()
    expect(await hasOwner(realPath, environment)).toBe(false)
    const socket = await listening(echo)
    await socket.close()
    await expect(stat(socket.path)).rejects.toThrow()
    await writeFile(socket.path, '')
    expect(await connectOwner(realPath, { environment })).toBeUndefined()
    expect(await hasOwner(realPath, environment)).toBe(false)
    await listening(echo)
    expect((await connected()).ledger.identity).toBe(identity)
  })

  it('L11: a live socket is never replaced', async () => {
    await listening(echo)
    expect(await hasOwner(realPath, environment)).toBe(true)
    await expect(listening(echo)).rejects.toEqual(code('ledger.locked'))
    const client = await connected()
    expect(await client.request('still', null)).toEqual({ method: 'still', params: null })
  })

  it('L11: an owner without XDG_RUNTIME_DIR is found by a client that has one', async () => {
    await mkdir(environment.temporaryDirectory)
    const { runtimeDirectory: _, ...bare } = environment
    await listening(echo, { at: bare })
    expect(await hasOwner(realPath, environment)).toBe(true)
    expect((await connected()).ledger.realPath).toBe(realPath)
    await expect(listening(echo)).rejects.toEqual(code('ledger.locked'))
  })

  it('streams events without losing or reordering any, however slow the reader', async () => {
    const count = limits.OWNER_EVENTS_AHEAD_MAX * 3 + 5
    const events = async function* () {
      for (let at = 0; at < count; at += 1) yield at
    }
    await listening((request) => (request.method === 'events' ? events() : echo(request)))
    const client = await connected()
    const seen: Json[] = []
    for await (const event of client.stream('events', {})) {
      if (Number(event) % 100 === 0) await client.request('between', event)
      seen.push(event)
    }
    expect(seen).toEqual(Array.from({ length: count }, (_, at) => at))
    await expect(client.request('events', {})).rejects.toEqual(code('owner.malformed_message'))
    expect(await client.request('after', 1)).toEqual({ method: 'after', params: 1 })
  })

  it('D9: sends no more events than the reader has room for', async () => {
    let produced = 0
    await listening(async function* () {
      for (;;) {
        produced += 1
        yield produced
      }
    } as OwnerHandler)
    const client = await connected()
    const stream = client.stream('events', {})
    expect((await stream.next()).value).toBe(1)
    for (let turn = 0; turn < 50; turn += 1) await new Promise((done) => setImmediate(done))
    expect(produced).toBeLessThanOrEqual(limits.OWNER_EVENTS_AHEAD_MAX + 1)
    for (let at = 2; at <= 1_000; at += 1) expect((await stream.next()).value).toBe(at)
    client.close()
  })

  it('a reader that leaves ends the stream at the owner', async () => {
    let ended: (how: string) => void = () => undefined
    const end = new Promise<string>((resolve) => {
      ended = resolve
    })
    await listening(async function* ({ signal }) {
      try {
        yield 1
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      } finally {
        ended(signal.aborted ? 'aborted' : 'left')
      }
    } as OwnerHandler)
    const client = await connected()
    for await (const event of client.stream('events', {})) {
      expect(event).toBe(1)
      break
    }
    expect(await end).toBe('aborted')
  })

  it('errors cross as data and are thrown again with the same code', async () => {
    await listening(async ({ method }) => {
      if (method === 'tally') throw ledgerError('ledger.not_found', { path: '/x' })
      throw new RangeError('odd')
    })
    const client = await connected()
    await expect(client.request('tally', {})).rejects.toMatchObject({
      code: 'ledger.not_found',
      message: 'There is no ledger at /x.',
      context: { path: '/x' }
    })
    await expect(client.request('other', {})).rejects.toMatchObject({
      code: 'owner.request_failed',
      context: { remoteCode: 'RangeError', problem: 'odd' }
    })
    await expect(client.stream('tally', {}).next()).rejects.toEqual(code('ledger.not_found'))
  })

  it('results that are not JSON or too large are refused, and the connection lives', async () => {
    await listening(async ({ method }) => (method === 'large' ? 'x'.repeat(2_000) : Number.NaN), {
      responseBytesMax: 1_000
    })
    const client = await connected()
    await expect(client.request('large', {})).rejects.toEqual(code('core.limit_exceeded'))
    await expect(client.request('odd', {})).rejects.toEqual(code('core.not_json'))
    client.close()
  })

  it('requests over the bound are refused as busy', async () => {
    const gates: (() => void)[] = []
    await listening(
      async () => {
        await new Promise<void>((resolve) => gates.push(resolve))
        return 'done'
      },
      { requestsMax: 2 }
    )
    const client = await connected()
    const first = client.request('a', {})
    const second = client.request('b', {})
    await expect(client.request('c', {})).rejects.toEqual(code('owner.busy'))
    for (const gate of gates) gate()
    expect(await Promise.all([first, second])).toEqual(['done', 'done'])
  })

  it('connections over the bound are closed', async () => {
    await listening(echo, { connectionsMax: 1 })
    const client = await connected()
    await expect(connected()).rejects.toEqual(code('owner.disconnected'))
    expect(await client.request('x', 1)).toEqual({ method: 'x', params: 1 })
  })

  it('requests under way fail with owner.disconnected when the owner closes', async () => {
    const socket = await listening(() => new Promise<Json>(() => undefined))
    const client = await connected()
    const pending = client.request('never', {})
    await new Promise((done) => setImmediate(done))
    await socket.close()
    open.length = 0
    await expect(pending).rejects.toEqual(code('owner.disconnected'))
  })
})

describe('hostile peers', () => {
  async function raw(path: string): Promise<Socket> {
    const socket = connect(path)
    await new Promise((resolve) => socket.once('data', resolve))
    return socket
  }

  it.each([
    ['no JSON', 'hello\n'],
    ['no object', '[]\n'],
    ['no id', '{"method":"x","params":{}}\n'],
    ['a fraction as id', '{"id":1.5,"method":"x","params":{}}\n'],
    ['an unknown key', '{"id":1,"method":"x","params":{},"principal":"owner"}\n'],
    ['a duplicate key', '{"id":1,"id":2,"method":"x","params":{}}\n'],
    ['a long method', `{"id":1,"method":"${'m'.repeat(200)}","params":{}}\n`],
    ['an id used twice', '{"id":1,"method":"x","params":{}}\n{"id":1,"method":"x","params":{}}\n'],
    ['bytes that are no text', Buffer.from([0x22, 0xff, 0x22, 0x0a])],
    ['a line without end', 'x'.repeat(5_000)]
  ])('a client that sends %s is disconnected, and the others are not', async (_, bytes) => {
    const { path } = await listening(echo, { requestBytesMax: 4_000 })
    const socket = await raw(path)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(bytes)
    await closed
    const client = await connected()
    expect(await client.request('x', 1)).toEqual({ method: 'x', params: 1 })
  })

  async function impostor(answer: (socket: Socket) => void): Promise<() => void> {
    const { path } = await prepareSocketAddress(socketAddresses(realPath, environment), environment)
    const sockets: Socket[] = []
    const server = createServer((socket) => {
      sockets.push(socket)
      answer(socket)
    })
    await new Promise<void>((resolve) => server.listen(path, resolve))
    return () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }

  const greeting = (path: string) =>
    `{"format":"tally-owner","identity":"${identity}","ledgerVersion":1,` +
    `"realPath":"${path}","version":1}\n`

  it.each([
    ['another ledger', () => greeting('/elsewhere'), 'owner.wrong_ledger'],
    ['another protocol', () => '{"format":"other"}\n', 'owner.malformed_message'],
    ['no line', () => 'x'.repeat(100), 'owner.disconnected']
  ])('an owner that greets with %s is refused', async (_, text, problem) => {
    const stop = await impostor((socket) => {
      socket.end(text())
    })
    await expect(connected()).rejects.toEqual(code(problem))
    stop()
  })

  it('an owner that never greets is given up after a while', async () => {
    const clock = new ManualClock()
    const stop = await impostor(() => undefined)
    const attempt = connectOwner(realPath, { environment, clock })
    const outcome = expect(attempt).rejects.toEqual(code('owner.disconnected'))
    while (clock.nextDue === undefined) await new Promise((done) => setImmediate(done))
    clock.advance(limits.OWNER_GREETING_MS)
    await outcome
    stop()
  })

  it('an owner that answers what was not asked ends the connection', async () => {
    const stop = await impostor((socket) => {
      socket.write(greeting(realPath))
      socket.once('data', () => socket.write('{"id":9,"result":1}\n'))
    })
    const client = await connected()
    await expect(client.request('x', {})).rejects.toEqual(code('owner.malformed_message'))
    stop()
  })
})

describe('the runtime directory', () => {
  it('L11: one that others can enter is refused', async () => {
    await mkdir(join(directory, 'tallystick'), { mode: 0o700 })
    await chmod(join(directory, 'tallystick'), 0o755)
    await expect(listening(echo)).rejects.toEqual(code('owner.unsafe_directory'))
    expect(await connectOwner(realPath, { environment })).toBeUndefined()
  })

  it('L11: one that another user made first is passed over, and its owner is named', async () => {
    const { userId, temporaryDirectory } = environment
    const homeDirectory = join(directory, 'home')
    const taken = join(temporaryDirectory, `tallystick-${userId}`)
    await mkdir(homeDirectory)
    await mkdir(taken, { recursive: true, mode: 0o700 })
    const said = await givenAway(taken)
    const { runtimeDirectory: _, ...bare } = environment
    const at = { ...bare, homeDirectory }
    expect(await hasOwner(realPath, at)).toBe(false)
    expect(await runtimeDirectoryProblems(at)).toEqual([`${taken} is not used: ${said}`])
    const socket = await listening(echo, { at })
    expect(socket.path.startsWith(join(homeDirectory, '.tallystick'))).toBe(true)
    expect(socket.passedOver).toEqual([`the runtime directory ${taken} is not used: ${said}`])
    expect(await hasOwner(realPath, at)).toBe(true)
    await expect(listening(echo, { at })).rejects.toEqual(code('ledger.locked'))
    const client = await connectOwner(realPath, { environment: at })
    expect(client?.ledger.realPath).toBe(realPath)
    client?.close()
    await expect(listening(echo, { at: bare })).rejects.toMatchObject({
      code: 'owner.unsafe_directory',
      context: { path: taken, problem: said }
    })
  })

  it('L11: where none can be had, what was found at each is said', async () => {
    await writeFile(join(directory, 'tallystick'), '')
    const missing = join(directory, 'missing')
    await expect(
      listening(echo, { at: { ...environment, homeDirectory: missing } })
    ).rejects.toMatchObject({
      context: {
        problem: expect.stringMatching(/^it is not a directory; .* cannot be made .*; .*missing/)
      }
    })
  })

  it('L11: one of another user is told by its owner, whatever its mode', async () => {
    const { userId } = environment
    expect(await unsafety(directory, userId)).toBeUndefined()
    expect(await unsafety(directory, userId + 1)).toBe(`it belongs to user ${userId} (mode 0700)`)
  })

  it('L11: one that is a file is refused', async () => {
    await writeFile(join(directory, 'tallystick'), '')
    await expect(listening(echo)).rejects.toEqual(code('owner.unsafe_directory'))
  })

  it('L11: a socket path over 107 bytes is refused, never cut', async () => {
    const long = join(directory, 'x'.repeat(80))
    const refused = { ...environment, runtimeDirectory: long, temporaryDirectory: long }
    await expect(listening(echo, { at: refused })).rejects.toMatchObject({
      code: 'owner.path_too_long',
      context: { limit: 107 }
    })
    await mkdir(environment.temporaryDirectory)
    const fallback = { ...environment, runtimeDirectory: long }
    const { path } = await listening(echo, { at: fallback })
    expect(path.startsWith(environment.temporaryDirectory)).toBe(true)
  })
})
