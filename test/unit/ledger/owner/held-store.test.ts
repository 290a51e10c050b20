import { mkdtemp, rm } from 'node:fs/promises'
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
