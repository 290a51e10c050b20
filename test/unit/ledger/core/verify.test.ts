import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { limits } from '../../../../src/core/index.js'
import { VerifyingThreads } from '../../../../src/identity/index.js'
import { unwrapText, wrapValue } from '../../../../src/ledger/envelope.js'
import { storeAround } from '../../../../src/ledger/index.js'
import { cases } from '../../../support/effort.js'
import { commits, copyOf, fullLedger, present, verifyOf } from './full-ledger.js'
import { commit, fixedIdentity, loneItem, newLedger, reopen } from './support.js'

describe('verify without re-execution (P1)', () => {
  it('passes a whole ledger, before and after derived records are written', async () => {
    const opened = await fullLedger()
    const before = await verifyOf(opened)
    expect(before.failure).toBeUndefined()
    expect(before).toMatchObject({ ok: true, receipts: 5, evidence: 1, signatures: 6, runs: 6 })
    await opened.ledger.close()
    const after = await verifyOf(opened)
    expect(after.failure).toBeUndefined()
    expect(after).toMatchObject({ ok: true, stateEntries: 2, journalEntries: 11 })
    expect(after.notChecked).toEqual([
      'outputs: nothing was re-executed',
      '6 log records after the last note from outside',
      'journals of 2 open runs: what authenticates it needs the blob key'
    ])
  })

  it('ends the threads that check the signatures of a long ledger, however it ends', async () => {
    const { ledger, store } = await newLedger()
    const count = limits.VERIFY_BEFORE_THREADS + 2 * limits.VERIFY_THREAD_BATCH
    for (let n = 0; n < count - 1; n += 1) ledger.append(loneItem({ id: `unit-${n}` }))
    await commit(ledger, loneItem({ id: 'last' }))
    await ledger.close()
    const checked = vi.spyOn(VerifyingThreads.prototype, 'check')
    const closed = vi.spyOn(VerifyingThreads.prototype, 'close')
    expect(await verifyOf({ store })).toMatchObject({ ok: true, signatures: count })
    expect(checked).toHaveBeenCalled()
    expect(closed).toHaveBeenCalledTimes(1)
    const broken = storeAround(store, {
      get: (key) => {
        throw new Error(`the disk is gone: ${key}`)
      }
    })
    await expect(verifyOf({ store: broken })).rejects.toThrow('the disk is gone')
    expect(closed).toHaveBeenCalledTimes(2)
    vi.restoreAllMocks()
  })

  it('hands each receipt to the hook with bodies, sealed responses and the state before it', async () => {
    const opened = await fullLedger()
    const seen: unknown[] = []
    const report = await verifyOf(opened, {
      onReceipt: (receipt: import('../../../../src/ledger/index.js').VerifiedReceipt) => {
        seen.push([
          receipt.receipt.inputPayload.id,
          receipt.payloadText?.length,
          receipt.resultText?.length,
          receipt.stateBefore.list('').join(),
          receipt.sealed.map((body) => body?.bodyText).join()
        ])
        return undefined
      }
    })
    expect(report.ok).toBe(true)
    expect(seen).toEqual([
      ['plain', 15, 11, '', ''],
      ['long', 15, 3002, 'a,b', ''],
      ['private', 15, 11, 'a,b', ''],
      ['sealed', 15, 11, 'a', '{"price":"7"}'],
      ['large', 70_002, 11, 'a,c', '']
    ])
  })

  it('reports what the hook found at its receipt', async () => {
    const opened = await fullLedger()
    const report = await verifyOf(opened, {
      onReceipt: ({ index }: { index: number }) =>
        index === 2 ? { field: 'resultHash', signed: 'x', computed: 'y', key: 'k' } : undefined
    })
    expect(report.failure).toEqual({
      index: 2,
      commit: 2,
      field: 'resultHash',
      signed: 'x',
      computed: 'y',
      key: 'k'
    })
  })

  it('T3: a note finds a ledger that was cut, and says how far a whole one is anchored (P5)', async () => {
    const store = (await fullLedger()).store
    const { ledger, keys } = {
      ledger: await reopen({ store, keys: fixedIdentity() }),
      keys: fixedIdentity()
    }
    const text = await ledger.note()
    await commit(ledger, loneItem({ id: 'after' }))
    const anchored = await verifyOf({ store }, { notes: [{ source: 'peer', text }] })
    expect(anchored.anchored).toMatchObject({ upTo: 6, logSize: 7 })
    const other = await newLedger({ keys })
    await commit(other.ledger, loneItem({ id: 'plain', writes: { a: 1 } }))
    const cut = await verifyOf(other, { notes: [{ source: 'peer', text }] })
    expect(cut.failure).toMatchObject({ field: 'note.size', signed: '6', computed: '1' })
  })

  it('T2: any change of one line of a commit record is found at or before its receipt', async () => {
    const opened = await fullLedger()
    await opened.ledger.close()
    const places: { key: string; line: number; index: number }[] = []
    for await (const [key, value] of opened.store.entries(commits)) {
      const lines = unwrapText(key, value).split('\n')
      const header = /"receipts":(\d+)/.exec(lines[0] ?? '')
      let index = Number(header?.[1])
      lines.forEach((line, at) => {
        places.push({ key, line: at, index })
        if (line.startsWith('O')) index += 1
      })
    }
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...places),
        fc.nat(),
        fc.nat(),
        async (place, where, how) => {
          const copy = await copyOf(opened.store)
          const lines = unwrapText(place.key, present(copy.get(place.key))).split('\n')
          const line = lines[place.line] ?? ''
          const changed = mutate(line, where, how)
          if (changed === line || isFreeText(line, changed)) return
          lines[place.line] = changed
          const value = wrapValue(place.key, lines.join('\n'))
          await copy.commit([{ puts: [[place.key, value]], deletes: [] }])
          const report = await verifyOf({ store: copy })
          expect(report.ok).toBe(false)
          if (/^[RWO]/.test(line)) expect(report.failure?.index).toBeLessThanOrEqual(place.index)
        }
      ),
      { numRuns: cases({ usual: 120, long: 165 }) }
    )
  }, 60_000)
})

// A journal entry that no receipt covers may say anything that is well formed, and so may the
// epoch.
function isFreeText(before: string, after: string): boolean {
  if (before.startsWith('C')) return before.replace(/\d+/, '') === after.replace(/\d+/, '')
  return before.startsWith('J') && !before.includes('"k":"run.')
}

function mutate(line: string, where: number, how: number): string {
  const at = 1 + (where % Math.max(1, line.length - 1))
  const char = line[at] ?? ''
  const digits = '0123456789abcdef'
  const next = digits.includes(char)
    ? (digits[(digits.indexOf(char) + 1 + (how % 15)) % 16] ?? '0')
    : String.fromCharCode(0x20 + (how % 90))
  return line.slice(0, at) + next + line.slice(at + 1)
}
