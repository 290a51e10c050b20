import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type IdentityId, sha256Hex } from '../../../../src/core/index.js'
import { OwnerSocket } from '../../../../src/ledger/owner/server.js'
import { connectOwner, hasOwner, type RuntimeEnvironment } from '../../../../src/owner/index.js'
import {
  ownerAddresses,
  prepareSocketAddress,
  socketAddresses
} from '../../../../src/owner/socket-path.js'
import { LedgerOnDisk } from '../../../support/ledger-on-disk.js'

/** The owner's pipe on Windows. Here a socket whose name begins otherwise stands in for it. */

const identity = 'a'.repeat(64) as IdentityId
const disk = await LedgerOnDisk.create()
afterAll(() => disk.remove())

const realPath = disk.path
const nowhere = join(realPath, 'missing')
const at = (pipes: string): RuntimeEnvironment => ({
  runtimeDirectory: nowhere,
  temporaryDirectory: nowhere,
  userId: -1,
  pipes
})
const environment = at(`${realPath}-pipe-`)

describe('a pipe of an owner', () => {
  it('L11: is named by the path of the location, in no directory', async () => {
    const windows = at('\\\\.\\pipe\\')
    const path = `\\\\.\\pipe\\tally-${sha256Hex(realPath).slice(0, 16)}`
    const places = socketAddresses(realPath, windows)
    expect(places).toEqual([{ directory: undefined, path }])
    expect(await ownerAddresses(realPath, windows)).toEqual(places)
    const address = { directory: undefined, path, passedOver: [] }
    expect(await prepareSocketAddress(places, windows)).toEqual(address)
  })

  it('L13: is the lock of a location, and gives it back', async () => {
    expect(await hasOwner(realPath, environment)).toBe(false)
    const owner = await OwnerSocket.bind(realPath, environment)
    try {
      expect(await hasOwner(realPath, environment)).toBe(true)
      const second = OwnerSocket.bind(realPath, environment)
      await expect(second).rejects.toMatchObject({ code: 'ledger.locked' })
    } finally {
      await owner.close()
    }
    expect(await hasOwner(realPath, environment)).toBe(false)
  })

  it('L13: that another process takes meanwhile is not taken from it', async () => {
    const owner = await OwnerSocket.bind(realPath, environment)
    const [place] = socketAddresses(realPath, environment)
    const elsewhere = at(`${realPath}-other-`)
    try {
      if (place === undefined) throw new Error('there is no place')
      // It looks elsewhere for an owner, and binds where there is one.
      const taking = OwnerSocket.bind(realPath, elsewhere, { ...place, passedOver: [] })
      await expect(taking).rejects.toMatchObject({
        code: 'ledger.locked',
        context: { problem: expect.stringContaining('EADDRINUSE') }
      })
      expect(await hasOwner(realPath, environment)).toBe(true)
    } finally {
      await owner.close()
    }
  })

  it('answers clients', async () => {
    const owner = await OwnerSocket.bind(realPath, environment)
    owner.serve({ identity, handle: ({ method }) => Promise.resolve(method) })
    try {
      const client = await connectOwner(realPath, { environment })
      expect(await client?.request('x', 1)).toBe('x')
      client?.close()
    } finally {
      await owner.close()
    }
  })
})
