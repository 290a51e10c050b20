import '../../../support/seed.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { WaitBegun } from '../../../../src/block/run/entries.js'
import { OpenAttempts } from '../../../../src/block/run/open-attempts.js'
import { OpenWaits } from '../../../../src/block/run/waits.js'

const paths = ['a', 'b', 'c', 'd'] as const
const path = fc.constantFrom(...paths)
const step = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), path, attempt: fc.nat() }),
  fc.record({ kind: fc.constantFrom('delete' as const, 'wait' as const, 'wake' as const), path })
)

describe('B2: open attempts', () => {
  it('are awake unless their leaf waits, whatever happened in which order', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const open = new OpenAttempts<number>()
        const [all, waiting] = [new Map<string, number>(), new Set<string>()]
        for (const one of steps) {
          if (one.kind === 'set') {
            open.set(one.path, one.attempt)
            all.set(one.path, one.attempt)
          } else if (one.kind === 'delete') {
            expect(open.delete(one.path)).toBe(all.delete(one.path))
          } else if (one.kind === 'wait') {
            open.wait(one.path)
            waiting.add(one.path)
          } else expect(open.wake(one.path)).toBe(waiting.delete(one.path))
          const awake = [...all].filter(([at]) => !waiting.has(at)).map(([, attempt]) => attempt)
          expect([...open.awake()].sort()).toEqual(awake.sort())
          expect([...open]).toEqual([...all])
          expect(open.waiting()).toEqual([...waiting])
          for (const at of paths) expect(open.isWaiting(at)).toBe(waiting.has(at))
        }
      })
    )
  })
})

describe('open waits', () => {
  it('know whether one is due by a time, whichever was found before', () => {
    const wait = fc.record({
      token: path,
      due: fc.option(fc.integer({ min: 0, max: 20 })),
      byMs: fc.integer({ min: -1, max: 21 }),
      isRemoved: fc.boolean()
    })
    fc.assert(
      fc.property(fc.array(wait, { maxLength: 30 }), (steps) => {
        const waits = new OpenWaits()
        for (const { token, due, byMs, isRemoved } of steps) {
          if (isRemoved) waits.remove(token)
          else waits.add({ token, due, path: 'root', actions: [] } as unknown as WaitBegun)
          const isDue = waits.all().some((one) => one.due !== null && one.due <= byMs)
          expect(waits.isSoonDue(byMs)).toBe(isDue)
        }
      })
    )
  })
})
