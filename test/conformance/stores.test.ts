import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLevelStore } from '../../src/ledger/stores/level.js'
import { openMemoryStore } from '../../src/ledger/stores/memory.js'
import type { Store } from '../../src/ledger/stores/port.js'
import { agrees, agreesAtOnce, storeConformance } from '../../src/testing/conformance/store.js'
import type { StoreDriver } from '../../src/testing/conformance/store-driver.js'
import { FaultyDisk } from '../../src/testing/faulty-store.js'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-stores-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const memory: StoreDriver = { create: async () => openMemoryStore() }

function levelDriver(): StoreDriver {
  const paths = new WeakMap<Store, string>()
  let count = 0
  const open = async (path: string, create: boolean) => {
    const store = await openLevelStore({ path, create })
    paths.set(store, path)
    return store
  }
  const fresh = () => {
    count += 1
    return join(directory, `level-${count}-${Math.trunc(performance.now() * 1e3)}`)
  }
  return {
    create: () => open(fresh(), true),
    reopen: (store) => open(paths.get(store) ?? '', false),
    // What a process has written when it dies; the store that is open keeps its own directory.
    crash: async (store) => {
      const path = fresh()
      await cp(paths.get(store) ?? '', path, { recursive: true })
      return open(path, false)
    }
  }
}

function faultyDriver(): StoreDriver {
  const disks = new WeakMap<Store, FaultyDisk>()
  const open = (disk: FaultyDisk) => {
    const store = disk.open()
    disks.set(store, disk)
    return store
  }
  return {
    create: async () => open(new FaultyDisk(7)),
    reopen: async (store) => open(disks.get(store) ?? new FaultyDisk(7)),
    crash: async (store) => {
      const disk = disks.get(store) ?? new FaultyDisk(7)
      disk.crash('power')
      return open(disk)
    }
  }
}

const drivers: readonly (readonly [name: string, driver: () => StoreDriver])[] = [
  ['level', levelDriver],
  ['memory', () => memory],
  ['faulty without faults', faultyDriver]
]

for (const [name, driver] of drivers) {
  describe(`store conformance: ${name}`, () => {
    for (const check of storeConformance) {
      it(check.name, async () => {
        await expect(check.run(driver())).resolves.toBeUndefined()
      })
    }

    it('agrees with a plain map over any history', async () => {
      await fc.assert(
        fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 25 }), async (seed, steps) => {
          await agrees(driver(), seed, steps)
        }),
        { numRuns: name === 'level' ? 25 : 200 }
      )
    })

    it('agrees with a plain map when identities commit at once, crash after crash', async () => {
      await fc.assert(
        fc.asyncProperty(fc.nat(), (seed) => agreesAtOnce(driver(), seed)),
        { numRuns: name === 'level' ? 15 : 200 }
      )
    })
  })
}
