import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { verifyLedger } from '../../../../src/ledger/index.js'
import { openLevelStore } from '../../../../src/ledger/stores/level.js'
import { collect, commit, fixedIdentity, loneItem, newLedger, reopen } from './support.js'

describe('state reads', () => {
  it('L10: reads and listings equal a plain map, whatever is queued, durable or being listed', async () => {
    const key = fc.stringMatching(/^[ab]\/[a-c]{1,2}$/)
    const step = fc.oneof(
      fc.record({ write: key, value: fc.option(fc.nat(9)) }),
      fc.record({ list: fc.constantFrom('a/', 'b/', 'a/a', '') }),
      fc.constant({ flush: true as const })
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { ledger } = await newLedger()
        const model = new Map<string, string>()
        const keysUnder = (prefix: string) =>
          [...model.keys()].filter((name) => name.startsWith(prefix)).sort()
        const open: Promise<void>[] = []
        let last = 0
        for (const [n, action] of steps.entries()) {
          if ('write' in action) {
            const value = action.value ?? undefined
            const appended = ledger.append(
              loneItem({ id: `u${n}`, writes: { [action.write]: value } })
            )
            if (appended.ok) last = appended.position
            if (value === undefined) model.delete(action.write)
            else model.set(action.write, String(value))
          } else if ('list' in action) {
            // Not awaited: later writes happen while the store is being read.
            open.push(ledger.list(action.list).then(() => undefined))
          } else await ledger.durable(last)
          for (const name of ['a/a', 'a/b', 'b/cc']) {
            expect(ledger.read(name)).toBe(model.get(name))
          }
        }
        await Promise.all(open)
        for (const [n, prefix] of ['a/', 'b/', 'a/a', ''].entries()) {
          expect(await ledger.list(prefix)).toEqual(keysUnder(prefix))
          const lists = { [prefix]: keysUnder(prefix) }
          expect(ledger.append(loneItem({ id: `check-${n}`, lists })).ok).toBe(true)
        }
      }),
      { numRuns: 60 }
    )
  })

  it('works the same on LevelDB: append, close, reopen, verify', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'tallystick-ledger-'))
    try {
      const path = join(directory, 'data-0')
      const store = await openLevelStore({ path, create: true })
      const { ledger, keys } = await newLedger({ store })
      await Promise.all(
        Array.from({ length: 200 }, (_, n) =>
          commit(ledger, loneItem({ id: `u${n}`, writes: { [`k${n % 9}`]: n } }))
        )
      )
      const roots = ledger.roots()
      await ledger.close()
      await store.close()
      const again = await openLevelStore({ path, create: false })
      const reopened = await reopen({ store: again, keys })
      expect(reopened.state()).toMatchObject({ mode: 'ready', receipts: 200 })
      expect(reopened.roots()).toEqual(roots)
      expect(await collect(reopened.stateEntries())).toHaveLength(9)
      const report = await verifyLedger({ store: again, identity: fixedIdentity().identity })
      expect(report).toMatchObject({ ok: true, receipts: 200, signatures: 200 })
      await reopened.close()
      await again.close()
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  })
})
