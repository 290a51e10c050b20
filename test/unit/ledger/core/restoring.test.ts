import { describe, expect, it } from 'vitest'
import { isTallyError } from '../../../../src/core/index.js'
import { type LedgerMode, verifyLedger } from '../../../../src/ledger/index.js'
import { openMemoryStore } from '../../../../src/ledger/stores/memory.js'
import { commit, fixedIdentity, loneItem, newLedger } from './support.js'

/** A ledger with one commit, whose next one waits for `letGo`; its modes as they come. */
async function heldAtDisk() {
  const memory = openMemoryStore()
  const { promise: gate, letGo } = gated()
  let isSlow = false
  const store = {
    get: memory.get.bind(memory),
    entries: memory.entries.bind(memory),
    compact: memory.compact.bind(memory),
    close: memory.close.bind(memory),
    commit: async (items: Parameters<typeof memory.commit>[0]) => {
      if (isSlow) await gate
      return memory.commit(items)
    }
  }
  const { ledger } = await newLedger({ store })
  await commit(ledger, loneItem({ id: 'first' }))
  isSlow = true
  const modes: LedgerMode[] = []
  ledger.onMode(({ mode }) => modes.push(mode))
  return { ledger, store, modes, letGo }
}

function gated(): { readonly promise: Promise<void>; readonly letGo: () => void } {
  let letGo: () => void = () => undefined
  const promise = new Promise<void>((resolve) => {
    letGo = resolve
  })
  return { promise, letGo }
}

const codeOf = (error: unknown) => (isTallyError(error) ? error.code : String(error))

describe('restoring', () => {
  it('K10: begins at the end of a flush, and what is appended meanwhile waits', async () => {
    const { ledger, store, modes, letGo } = await heldAtDisk()
    const under = commit(ledger, loneItem({ id: 'under-way' }))
    await new Promise((resolve) => setImmediate(resolve))
    const begun = ledger.restoring.begin()
    const waiting = commit(ledger, loneItem({ id: 'waiting' }))
    letGo()
    await Promise.all([under, begun])
    expect(modes).toEqual(['restoring'])
    const later = commit(ledger, loneItem({ id: 'later' }))
    await new Promise((resolve) => setImmediate(resolve))
    const { identity } = fixedIdentity()
    expect(await verifyLedger({ store, identity })).toMatchObject({ ok: true, receipts: 2 })
    expect(ledger.state()).toMatchObject({ mode: 'restoring', receipts: 4 })
    ledger.restoring.end('unchanged')
    await Promise.all([waiting, later])
    expect(await verifyLedger({ store, identity })).toMatchObject({ ok: true, receipts: 4 })
    expect(ledger.state().mode).toBe('ready')
  })

  it('K10, D2: once it is replaced, what has waited is refused, and so is all that comes', async () => {
    const { ledger, store, letGo } = await heldAtDisk()
    letGo()
    await ledger.restoring.begin()
    const waiting = commit(ledger, loneItem({ id: 'waiting' })).catch(codeOf)
    ledger.restoring.end('replaced')
    expect(await waiting).toBe('ledger.restoring')
    expect(await commit(ledger, loneItem({ id: 'later' })).catch(codeOf)).toBe('ledger.restoring')
    expect(await ledger.note().catch(codeOf)).toBe('ledger.restoring')
    expect(ledger.state().mode).toBe('restoring')
    await ledger.close()
    const { identity } = fixedIdentity()
    expect(await verifyLedger({ store, identity })).toMatchObject({ ok: true, receipts: 1 })
  })

  it('K10, L3: safe mode is there again afterwards; a poisoned ledger is not restored', async () => {
    const { ledger, letGo } = await heldAtDisk()
    letGo()
    const cause = { code: 'core.internal', message: 'a test says so' }
    ledger.enterSafeMode(cause)
    await ledger.restoring.begin()
    expect(await commit(ledger, loneItem({ id: 'new' })).catch(codeOf)).toBe('ledger.restoring')
    ledger.restoring.end('unchanged')
    expect(ledger.state()).toMatchObject({ mode: 'safe', cause })
    const poisoned = await newLedger({ store: failing() })
    expect(await commit(poisoned.ledger, loneItem({ id: 'new' })).catch(codeOf)).toBe(
      'ledger.poisoned'
    )
    expect(await poisoned.ledger.restoring.begin().catch(codeOf)).toBe('ledger.poisoned')
  })
})

/** A store that takes the first head and the epoch, and no commit. */
function failing() {
  const memory = openMemoryStore()
  let commits = 0
  return {
    ...{ get: memory.get.bind(memory), entries: memory.entries.bind(memory) },
    ...{ compact: memory.compact.bind(memory), close: memory.close.bind(memory) },
    commit: (items: Parameters<typeof memory.commit>[0]) => {
      commits += 1
      return commits > 2 ? Promise.reject(new Error('the disk is full')) : memory.commit(items)
    }
  }
}
