import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { exitCodes } from '../../../src/cli/frame/exit-codes.js'
import { createFrame } from '../../../src/cli/frame/frame.js'
import { intent } from '../../../src/cli/intent.js'
import { log } from '../../../src/cli/log.js'
import { connect } from '../../../src/client/index.js'
import {
  encodeGreeting,
  LineReader,
  prepareSocketAddress,
  socketAddresses,
  systemEnvironment
} from '../../../src/owner/index.js'
import { createRuntime, type LocationRuntime, recordRunAt } from '../../../src/runtime/index.js'
import { FakeClock } from '../../../src/testing/fake-clock.js'
import { TenantsOnDisk } from '../../support/tenants.js'

let disk: TenantsOnDisk
let location: LocationRuntime
const clock = new FakeClock()
beforeEach(async () => {
  disk = await TenantsOnDisk.create()
  location = await disk.open({ serve: true, clock, idleMs: 1_000 })
})
afterEach(() => disk.remove())

const keeping = (value: string) => ({ action: 'keep', payload: { key: 'word', value } })

/** Ids of the tenants `acme` and `zeta`, which are not open. */
async function tenants() {
  const [acme = '', zeta = ''] = await location.create(['acme', 'zeta'])
  return { acme, zeta }
}

describe('a client of a location that is opened for many', () => {
  it('L16: asks the identity that it names, by name or id, and no other', async () => {
    const { acme, zeta } = await tenants()
    await using main = await connect({ location: disk.path })
    await using one = await connect({ location: disk.path, identity: 'acme' })
    await using two = await connect({ location: disk.path, identity: zeta })
    const known = await location.identity()
    expect([main.identity, one.identity, two.identity]).toEqual([known.identity, acme, zeta])
    for (const [client, value] of [
      [one, 'of acme'],
      [two, 'of zeta']
    ] as const) {
      expect(await client.intent({ id: 'june', ...keeping(value) })).toMatchObject({ value })
    }
    expect(await one.state.get('kept/word')).toBe('of acme')
    expect(await two.state.get('kept/word')).toBe('of zeta')
    expect(await main.state.get('kept/word')).toBeUndefined()
    await expect(main.run('june')).rejects.toMatchObject({ code: 'run.not_found' })
    expect(await two.status()).toMatchObject({ identity: zeta, receipts: 1 })
    await expect(connect({ location: disk.path, identity: 'other' })).rejects.toMatchObject({
      code: 'ledger.identity_missing'
    })
    await using same = await connect({ location: disk.path, identity: known.identity })
    expect(same.identity).toBe(known.identity)
  })

  it('L17: holds it as long as a request of it is under way, and no longer', async () => {
    const { acme } = await tenants()
    await using one = await connect({ location: disk.path, identity: acme })
    await one.startWorkflow('hears', { id: 'june', inputs: null })
    const leaving = new AbortController()
    const entries = one.follow('june', { signal: leaving.signal })[Symbol.asyncIterator]()
    await entries.next()
    const isOpen = async () =>
      (await location.identities()).find(({ identity }) => identity === acme)?.isOpen
    await clock.advance(10_000)
    expect(await isOpen()).toBe(true)
    leaving.abort()
    while (!(await entries.next()).done) {
      // What was sent before it was left.
    }
    // The client sends a separate message when it leaves the stream.
    await one.status()
    await clock.advance(10_000)
    expect(await isOpen()).toBe(false)
    // An answer opens it.
    expect(await one.signal('june', 'go', 'on')).toMatchObject({ accepted: true })
    expect(await one.result('june')).toMatchObject({ status: 'done' })
    const recording = await recordRunAt(disk.path, 'june' as never, { identity: acme as never })
    expect(recording.run).toBe('june')
  })

  it('reconnects to the next process that holds the location', async () => {
    await tenants()
    await using one = await connect({ location: disk.path, identity: 'acme' })
    await one.intent({ id: 'june', ...keeping('first') })
    await disk.close()
    await disk.open({ serve: true })
    expect(await one.intent({ id: 'july', ...keeping('second') })).toMatchObject({
      value: 'second'
    })
  })

  it('rejects an owner that has opened another identity alone', async () => {
    const { acme, zeta } = await tenants()
    await disk.close()
    const alone = { location: disk.path, insecurePlaintextKey: true, identity: acme as never }
    const tally = await createRuntime(alone)
    try {
      await expect(connect({ location: disk.path, identity: zeta })).rejects.toMatchObject({
        ...{ code: 'owner.wrong_ledger', context: { expected: zeta, actual: acme } }
      })
      await using same = await connect({ location: disk.path, identity: acme })
      expect(same.identity).toBe(acme)
    } finally {
      await tally.close()
    }
  })

  it('rejects an owner of an earlier version, which ends the connection', async () => {
    const { acme, zeta } = await tenants()
    await disk.close()
    const places = socketAddresses(disk.path, systemEnvironment())
    const { path } = await prepareSocketAddress(places, systemEnvironment())
    // What 0.1.0 does with a member that it does not know.
    const server = createServer((socket) => {
      const reader = new LineReader(1_000_000)
      socket.on('data', (chunk) => {
        for (const line of reader.push(chunk)) if ('identity' in JSON.parse(line)) socket.destroy()
      })
      socket.write(
        encodeGreeting({ realPath: disk.path, identity: acme as never, ledgerVersion: 1 })
      )
    })
    await new Promise<void>((resolve) => server.listen(path, resolve))
    try {
      await expect(connect({ location: disk.path, identity: zeta })).rejects.toMatchObject({
        ...{ code: 'owner.wrong_ledger', context: { expected: zeta, actual: acme } }
      })
      await using same = await connect({ location: disk.path, identity: acme })
      expect(same.identity).toBe(acme)
    } finally {
      await new Promise((resolve) => server.close(resolve))
    }
  })

  it('is a command, too: `--identity` means that one of the service', async () => {
    const { acme } = await tenants()
    const printed: string[] = []
    const stdout = { write: (text: string) => printed.push(text) > 0 }
    const host = { stdout, stderr: { write: () => true }, environment: {}, cwd: disk.directory }
    const frameOf = (identity?: string) =>
      createFrame({ dir: 'ledger', json: true, ...(identity && { identity }) }, host)
    const payload = '{"key":"word","value":"of acme"}'
    expect(await intent(frameOf(acme), 'keep', { payload })).toBe(exitCodes.done)
    await using tenant = await location.identity('acme')
    expect(await tenant.state.get('kept/word')).toBe('of acme')
    printed.length = 0
    expect(await log(frameOf(acme), {})).toBe(exitCodes.done)
    expect(printed.filter((line) => line.includes('"$type":"receipt"')).join()).toContain('"keep"')
    await expect(log(frameOf('f'.repeat(64)), {})).rejects.toMatchObject({
      code: 'ledger.identity_missing'
    })
  })
})
