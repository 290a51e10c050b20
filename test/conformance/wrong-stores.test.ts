import { describe, expect, it } from 'vitest'
import { openMemoryStore, type Store, type StoreItem, storeAround } from '../../src/ledger/index.js'
import { FaultyDisk, type StoreDriver, storeConformance } from '../../src/testing/index.js'
import { failingChecks, neverFailed, type WrongDriver } from '../support/failing-checks.js'

function altered(changes: (right: Store) => Partial<Store>): () => StoreDriver {
  return () => ({
    create: async () => {
      const right = openMemoryStore()
      return storeAround(right, changes(right))
    }
  })
}

/** A store on a disk that outlives it. */
function onDisk(
  open: (disk: FaultyDisk) => Store,
  options?: ConstructorParameters<typeof FaultyDisk>[1]
): () => StoreDriver {
  return () => {
    const disks = new WeakMap<Store, FaultyDisk>()
    const opened = (disk: FaultyDisk) => {
      const store = open(disk)
      disks.set(store, disk)
      return store
    }
    const diskOf = (store: Store) => disks.get(store) ?? new FaultyDisk(3, options)
    return {
      create: async () => opened(new FaultyDisk(3, options)),
      reopen: async (store) => opened(diskOf(store)),
      crash: async (store) => {
        const disk = diskOf(store)
        disk.crash('power')
        return opened(disk)
      }
    }
  }
}

const wrong: readonly WrongDriver<StoreDriver>[] = [
  {
    fault: 'counts an item where a commit has none',
    driver: altered((right) => ({
      commit: async (items) => (items.length === 0 ? [true] : right.commit(items))
    })),
    fails: ['reads what was committed', 'agrees']
  },
  {
    fault: 'applies the deletes of an item before its puts',
    driver: altered((right) => ({
      commit: (items) =>
        right.commit(
          items.map((item) => {
            const put = new Set(item.puts.map(([key]) => key))
            return { ...item, deletes: item.deletes.filter((key) => !put.has(key)) }
          })
        )
    })),
    fails: ['S1: an item is all', 'agrees']
  },
  {
    fault: 'keeps nothing when it is closed',
    driver: () => {
      const { create } = altered(() => ({}))()
      return { create, reopen: create, crash: create }
    },
    fails: ['S1: a committed value', 'S1: a crash', 'S3: identities', 'agrees']
  },
  {
    fault: 'acknowledges before it has synced',
    driver: onDisk((disk) => disk.open(), { syncs: false }),
    fails: ['S1: a crash', 'S3: identities']
  },
  {
    fault: 'writes the items of a commit one by one',
    driver: onDisk((disk) => {
      const right = disk.open()
      return storeAround(right, {
        commit: async (items) => {
          const applied: boolean[] = []
          for (const item of items) applied.push(...(await right.commit([item])))
          return applied
        }
      })
    }),
    fails: ['S1: a crash']
  },
  {
    fault: 'commits what was asked last first',
    driver: altered((right) => {
      let waiting: (() => void)[] = []
      return {
        commit: (items) =>
          new Promise((resolve, reject) => {
            waiting.push(() => right.commit(items).then(resolve, reject))
            if (waiting.length > 1) return
            setImmediate(() => {
              const begun = waiting.reverse()
              waiting = []
              for (const begin of begun) begin()
            })
          })
      }
    }),
    fails: ['S2: commits apply', 'S3: two writers', 'a closed store']
  },
  {
    fault: 'judges commits that it collects by what is there before the first of them',
    driver: altered((right) => {
      let collected: {
        items: readonly StoreItem[]
        tell: (applies: readonly boolean[] | Promise<never>) => void
      }[] = []
      const holds = ({ condition }: StoreItem) =>
        condition === undefined || String(right.get(condition.key)) === String(condition.value)
      const writeAll = async (begun: typeof collected) => {
        const batch = begun.map((one) => ({ ...one, applies: one.items.map(holds) }))
        const applying = batch.flatMap(({ items, applies }) => items.filter((_, at) => applies[at]))
        await right.commit(applying.map(({ puts, deletes }) => ({ puts, deletes })))
        for (const { tell, applies } of batch) tell(applies)
      }
      return {
        commit: (items) =>
          new Promise((tell) => {
            if (collected.push({ items, tell }) > 1) return
            setImmediate(() => {
              const begun = collected
              collected = []
              writeAll(begun).catch((error: unknown) => {
                for (const one of begun) one.tell(Promise.reject(error))
              })
            })
          })
      }
    }),
    fails: ['S3: a condition', 'S3: two writers', 'S3: identities', 'a closed store', 'agrees']
  },
  {
    fault: 'looks at no condition',
    driver: altered((right) => ({
      commit: (items) => right.commit(items.map(({ puts, deletes }) => ({ puts, deletes })))
    })),
    fails: ['S3: an item', 'S3: a condition', 'S3: two writers', 'S3: identities', 'agrees']
  },
  {
    fault: 'drops the whole commit for one condition',
    driver: altered((right) => ({
      commit: async (items) => {
        const holds = items.map(
          ({ condition }) =>
            condition === undefined || String(right.get(condition.key)) === String(condition.value)
        )
        if (holds.includes(false)) return holds.map(() => false)
        return right.commit(items)
      }
    })),
    fails: ['S3: an item', 'S3: a condition', 'S3: identities', 'agrees']
  },
  {
    fault: 'reads what is held later on',
    driver: altered((right) => ({
      entries: (range) => ({
        [Symbol.asyncIterator]: () => right.entries(range)[Symbol.asyncIterator]()
      })
    })),
    fails: ['a range is a snapshot', 'a closed store']
  },
  {
    fault: 'hands out the bytes that it keeps',
    driver: altered((right) => {
      const handed = new Map<string, Uint8Array>()
      return {
        get: (key) => {
          const value = right.get(key)
          const before = handed.get(key)
          if (value === undefined) return undefined
          if (before?.byteLength === value.byteLength) return before
          handed.set(key, value)
          return value
        }
      }
    }),
    fails: ['S4: a read', 'agrees']
  },
  {
    fault: 'orders keys by their UTF-16 units',
    driver: altered((right) => ({
      entries: async function* (range) {
        const { reverse = false, limit = Number.POSITIVE_INFINITY, ...whole } = range
        const found: (readonly [string, Uint8Array])[] = []
        for await (const entry of right.entries(whole)) found.push(entry)
        found.sort(([one], [other]) => (one < other ? -1 : 1))
        if (reverse) found.reverse()
        yield* found.slice(0, limit)
      }
    })),
    fails: ['ranges are half-open', 'a range is a snapshot', 'a closed store']
  },
  {
    fault: 'gives one page of a range',
    driver: altered((right) => ({
      entries: (range) => right.entries({ ...range, limit: Math.min(range.limit ?? 1_000, 1_000) })
    })),
    fails: ['a range of many pages']
  },
  {
    fault: 'ends keys at a NUL',
    driver: altered((right) => {
      const cut = (key: string) => key.split('\u0000')[0] ?? ''
      return {
        get: (key) => right.get(cut(key)),
        commit: (items) =>
          right.commit(
            items.map((item) => ({
              ...item,
              puts: item.puts.map(([key, value]) => [cut(key), value] as const)
            }))
          )
      }
    }),
    fails: ['empty values']
  },
  {
    fault: 'empties itself when it is compacted',
    driver: altered((right) => ({
      compact: async () => {
        const keys: string[] = []
        for await (const [key] of right.entries({ gte: '', lt: 'z' })) keys.push(key)
        await right.commit([{ puts: [], deletes: keys }])
      }
    })),
    fails: ['compact changes nothing']
  },
  {
    fault: 'serves after it was closed',
    driver: altered(() => ({ close: async () => undefined })),
    fails: ['a closed store']
  },
  {
    fault: 'does not answer a commit that writes nothing',
    driver: altered((right) => ({
      commit: (items) => (items.length === 0 ? new Promise(() => undefined) : right.commit(items))
    })),
    fails: ['late: reads what', 'late: agrees']
  },
  {
    fault: 'does not answer when it is closed',
    driver: altered(() => ({ close: () => new Promise(() => undefined) })),
    fails: storeConformance.map(({ name }) => `late: ${name}`)
  }
]

describe('a store is found wrong that', () => {
  it.each(wrong)('$fault', async ({ driver, fails }) => {
    expect(await failingChecks(storeConformance, driver, fails)).toEqual(fails)
  })
})

it('each check of the suite for stores fails for a wrong store', () => {
  expect(neverFailed(storeConformance, wrong)).toEqual([])
})

it('a check closes each store that it has opened, however it ends', async () => {
  for (const { driver, fails } of wrong) {
    const open = new Set<Store>()
    const counted = (): StoreDriver => ({
      create: async () => {
        const right = await driver().create()
        const store = storeAround(right, {
          close: () => {
            open.delete(store)
            return right.close()
          }
        })
        open.add(store)
        return store
      }
    })
    await failingChecks(storeConformance, counted, fails)
    expect(open.size).toBe(0)
  }
})
