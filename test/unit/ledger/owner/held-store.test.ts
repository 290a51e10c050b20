import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { IdentityId } from '../../../../src/core/index.js'
import { holdStore, OwnerSocket } from '../../../../src/ledger/owner/index.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'

const identity = 'c'.repeat(64) as IdentityId
let directory: string
let path: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-held-'))
  path = join(directory, 'ledger')
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const environment = () => ({ temporaryDirectory: directory, userId: process.getuid?.() ?? 0 })
const code = (value: string) => expect.objectContaining({ code: value })

describe('holdStore', () => {
  it('L4: creates only when told to, and opens again what it created', async () => {
    await expect(holdStore(path)).rejects.toEqual(code('ledger.not_found'))
    const first = await holdStore(path, { create: { identities: [identity] } })
    await first.store.commit([{ puts: [['a', Buffer.from('1')]], deletes: [] }])
    await first.close()
    const second = await holdStore(path, { create: { identities: [] } })
    expect(second.location.marker.identities).toEqual([identity])
    expect(second.store.get('a')?.toString()).toBe('1')
    await second.close()
  })

  it('L4: a second hold in the process is refused, and the first still has its lock', async () => {
    const first = await holdStore(path, { create: { identities: [identity] } })
    await expect(holdStore(path)).rejects.toEqual(code('ledger.locked'))
    await first.store.commit([{ puts: [['a', Buffer.from('1')]], deletes: [] }])
    await first.close()
    await (await holdStore(path)).close()
  })

  it('L11: a living owner is noticed before LevelDB is touched', async () => {
    await (await holdStore(path, { create: { identities: [identity] } })).close()
    const held = await holdStore(path)
    const { realPath } = held.location
    await held.close()
    const other = await OwnerSocket.bind(realPath, environment())
    await expect(holdStore(path, { environment: environment() })).rejects.toEqual(
      code('ledger.locked')
    )
    await other.close()
    await (await holdStore(path, { environment: environment() })).close()
  })

  it('L11: a refusal names the process that holds the ledger, its command and since when', async () => {
    const held = await holdStore(path, { create: { identities: [identity] } })
    const { realPath } = held.location
    const file = join(realPath, 'owner.json')
    const own = JSON.parse(await readFile(file, 'utf8'))
    expect(own).toMatchObject({ process: process.pid, since: expect.any(Number) })
    expect(own.command).toMatch(/^node/)
    await held.close()
    const other = await OwnerSocket.bind(realPath, environment())
    const left = { ...own, process: 4711, command: 'node server.js\n', since: 1_790_000_000_000 }
    await writeFile(file, JSON.stringify(left))
    const named = 'socket (process 4711, node server.js , since 2026-09-21T14:13:20.000Z).'
    const refused = holdStore(path, { environment: environment() })
    await expect(refused).rejects.toThrow(named)
    // An owner file of 0.1.0 says no more than its process.
    const { command, since, ...old } = left
    await writeFile(file, JSON.stringify(old))
    const again = holdStore(path, { environment: environment() })
    await expect(again).rejects.toThrow('socket (process 4711).')
    await other.close()
  })

  it('a failed hold can be repeated once its cause is gone', async () => {
    expectVerifyFailure('ledger.corrupt')
    const held = await holdStore(path, { create: { identities: [identity] } })
    const { livePath } = held.location
    await held.close()
    await rm(join(livePath, 'CURRENT'))
    await expect(holdStore(path)).rejects.toEqual(code('ledger.corrupt'))
    await expect(holdStore(path)).rejects.toEqual(code('ledger.corrupt'))
  })
})
