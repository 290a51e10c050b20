import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import { canonicalize, type Hash, type Json, sha256Hex } from '../../../../src/core/index.js'
import { leafHash, parseLogProof, verifyInclusion } from '../../../../src/ledger/log/index.js'
import {
  parseStateProof,
  verifyAbsence,
  verifyMembership
} from '../../../../src/ledger/state/index.js'
import type { Page, VerificationProgress, WiredRuntime } from '../../../../src/runtime/index.js'
import { openReader } from '../../../../src/runtime/location/reader.js'
import { LedgerOnDisk } from '../../../support/ledger-on-disk.js'

const keep = defineBlock({
  name: 'keep',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['keep'],
  run: (ctx, input) => {
    for (const [key, value] of Object.entries(input as Record<string, Json>)) {
      if (value === null) ctx.state.delete(key)
      else ctx.state.set(key, value)
    }
    return null
  }
})
const fail = defineBlock({
  name: 'fail',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx) => ctx.fail('no_luck', { message: 'none' })
})
const failing: Json = {
  schema: 'tally-composite/1',
  name: 'fails',
  version: '1.0.0',
  entry_point: 'first',
  nodes: { first: { block: 'fail' } }
}

describe('queries over a ledger', () => {
  let disk: LedgerOnDisk
  let tally: WiredRuntime
  beforeAll(async () => {
    disk = await LedgerOnDisk.create()
    tally = await disk.open({ blocks: [keep, fail] })
    for (const payload of [
      { 'a/1': 1, b: 1 },
      { 'a/1': 2, 'a/2': 'é' },
      { b: null },
      { 'a/3': [] }
    ]) {
      await tally.intent({ action: 'keep', payload })
    }
    await tally.begin(failing, { id: 'failed' }).result
    const payload = { principal: { kind: 'agent', id: 'ada' }, subject: 'keep' }
    await tally.intent({ action: 'system.grant', payload })
  })
  afterAll(() => disk.remove())

  it('Q2: log gives every leaf once, newest first, with what its record says', async () => {
    const past = await tally.ledger.past()
    for (const limit of [1, 2, 200]) {
      const lines = await all((page) => tally.queries.log({ ...page, limit }), limit)
      const leaves = Array.from({ length: past.logSize }, (_, n) => past.logSize - 1 - n)
      expect(lines.map(({ leaf }) => leaf)).toEqual(leaves)
      for (const { kind, index, hash, commitSeq } of lines) {
        if (kind !== 'receipt' || index === null) continue
        const stored = await tally.receipt(index)
        expect([stored?.receipt.receiptHash, stored?.commitSeq]).toEqual([hash, commitSeq])
      }
      const evidence = lines.find(({ kind }) => kind === 'evidence')
      expect(evidence).toMatchObject({ index: null, runId: 'failed', action: 'fails' })
    }
    const { items, next } = await tally.queries.log({ from: 1, before: 3 })
    expect([items.map(({ leaf }) => leaf), next]).toEqual([[2, 1], null])
  })

  it('proof shows each record to stand in the log that a note would sign', async () => {
    const { logSize } = await tally.ledger.past()
    for (let leaf = 0; leaf < logSize; leaf += 1) {
      const { record, root, proof, leafHash: given } = await tally.queries.proof({ leaf })
      const parsed = parseLogProof(canonicalize(proof))
      if (parsed.type !== 'inclusion') throw new Error('it is one of inclusion')
      const { index, size, hashes } = parsed
      const hash = leafHash(record)
      expect(Buffer.from(hash).toString('hex')).toBe(given)
      expect([index, size]).toEqual([leaf, logSize])
      expect(verifyInclusion({ index, size, leaf: hash, proof: hashes, root })).toBe(true)
    }
    const beyond = tally.queries.proof({ leaf: logSize })
    await expect(beyond).rejects.toMatchObject({ code: 'receipt.not_found' })
  })

  it('state is what reconstructing gives, at every receipt, page by page', async () => {
    const { receipts } = tally.ledger.state()
    for (let asOf = 0; asOf < receipts; asOf += 1) {
      const { state } = await tally.reconstructState(asOf)
      const lines = await all((page) => tally.queries.state({ ...page, asOf, limit: 2 }), 2)
      const found = new Map(lines.map(({ key, value }) => [key, canonicalize(value)]))
      expect(found).toEqual(new Map(state))
      const below = await tally.queries.state({ asOf, prefix: 'a/' })
      expect(below.items.map(({ key }) => key)).toEqual(
        [...found.keys()].filter((key) => key.startsWith('a/'))
      )
    }
    const beyond = tally.queries.state({ asOf: receipts })
    await expect(beyond).rejects.toMatchObject({ code: 'receipt.not_found' })
    const wrong = tally.queries.state({ cursor: 'x' })
    await expect(wrong).rejects.toMatchObject({ code: 'service.invalid_params' })
  })

  it('Q2: pages of the state stay as of the receipt of the first one', async () => {
    const first = await tally.queries.state({ prefix: 'a/', limit: 1 })
    await tally.intent({ action: 'keep', payload: { 'a/2': 'changed', 'a/9': 9 } })
    const second = await tally.queries.state({ prefix: 'a/', limit: 9, cursor: first.next ?? '' })
    expect(second.items.map(({ key, value }) => [key, value])).toEqual([
      ['a/2', 'é'],
      ['a/3', []]
    ])
    const { items } = await tally.queries.stateHistory({ key: 'a/2', limit: 1 })
    expect(items).toMatchObject([{ before: 'é', after: 'changed', removed: false }])
    const lines = await all(
      (page) => tally.queries.stateHistory({ ...page, key: 'b', limit: 1 }),
      1
    )
    expect(lines).toMatchObject([
      { before: 1, after: null, removed: true },
      { before: null, after: 1, removed: false }
    ])
  })

  it('stateProof holds under the root that the receipt signs, without a key and with it', async () => {
    const proofs: Json[] = []
    for (const key of ['a/1', 'b']) {
      const { root, parts, proof, value } = await tally.queries.stateProof({ key, asOf: 2 })
      proofs.push(canonicalize({ root, parts, proof, value }))
      expect(root).toBe((await tally.receipt(2))?.receipt.nextStateRoot)
      expect(sha256Hex(canonicalize(parts))).toBe(root)
      const parsed = parseStateProof(canonicalize(proof))
      const given = { root: (parts as { storage: Hash }).storage, key }
      const holds =
        parsed.type === 'membership'
          ? verifyMembership({ ...given, proof: parsed, valueText: canonicalize(value) })
          : verifyAbsence({ ...given, proof: parsed })
      expect([key, holds]).toEqual([key, true])
    }
    await disk.close()
    const reader = await openReader(disk.path)
    const signal = new AbortController().signal
    for (const [n, key] of ['a/1', 'b'].entries()) {
      const asked = { method: 'stateProof', params: { key, asOf: 2 }, signal }
      const { root, parts, proof, value } = (await reader.service(asked)) as Record<string, Json>
      expect(canonicalize({ root, parts, proof, value })).toBe(proofs[n])
    }
    await reader.close()
    tally = await disk.open({ blocks: [keep, fail] })
  })

  it('grants names who may use what, and by whom, page by page', async () => {
    const lines = await all((page) => tally.queries.grants({ ...page, limit: 1 }), 1)
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) {
      expect(line).toMatchObject({ to: { kind: 'agent', id: 'ada' }, by: 'owner local' })
    }
    expect(await tally.queries.resumable()).toEqual({ runs: [], quarantined: [] })
  })
})

/** All items of a list, which come once each. */
async function all<Item>(
  ask: (page: { readonly cursor?: string }) => Promise<Page<Item>>,
  limit: number
): Promise<readonly Item[]> {
  const found: Item[] = []
  for (let cursor: string | undefined; ; ) {
    const { items, next } = await ask(cursor === undefined ? {} : { cursor })
    expect(items.length).toBeLessThanOrEqual(limit)
    found.push(...items)
    if (next === null) return found
    cursor = next
  }
}

describe('verifying', () => {
  it('says how far it is, and gives in the end the report of verify, also of what is wrong', async () => {
    const disk = await LedgerOnDisk.create()
    const tally = await disk.open({ blocks: [keep, fail] })
    for (let n = 0; n < 5; n += 1) await tally.intent({ action: 'keep', payload: { n } })
    for (const replay of [false, true]) {
      const events: VerificationProgress[] = []
      for await (const event of tally.queries.verifying({ replay })) events.push(event)
      const last = events.at(-1)
      const { commits } = await tally.ledger.past()
      expect(events[0]).toEqual({
        phase: replay ? 'executing' : 'records',
        done: 0,
        total: commits
      })
      expect(last).toMatchObject({ phase: 'done', done: commits, total: commits })
      const { elapsedMs: _, line: __, ...report } = await tally.verify({ reexecute: replay })
      expect(last?.report).toMatchObject({ ...report })
      const counts = events.map(({ done }) => done)
      expect(counts).toEqual([...counts].sort((one, other) => one - other))
    }
    const notes = [{ source: 'elsewhere', text: 'no note' }]
    const events: VerificationProgress[] = []
    for await (const event of tally.queries.verifying({ notes })) events.push(event)
    expect(events.at(-1)?.report).toMatchObject({ anchored: { notes: [{ ok: false }] } })
    await disk.remove()
  })
})

describe('doctor', () => {
  it('checks what tally doctor does, from within the process that has the ledger', async () => {
    const disk = await LedgerOnDisk.create()
    const tally = await disk.open({ blocks: [keep, fail] })
    const { checks } = await tally.queries.doctor()
    const names = ['node', 'holder', 'ledger', 'packages', 'key', 'disk']
    expect(checks.map(({ name }) => name)).toEqual(names)
    const found = (name: string) => checks.find((check) => check.name === name)
    expect(found('holder')?.message).toContain('this process holds it')
    expect(found('ledger')).toMatchObject({ status: 'ok', fix: null })
    expect(found('key')).toMatchObject({ status: 'warning' })
    tally.ledger.enterSafeMode({ code: 'ledger.corrupt', message: 'it was tampered with' })
    const after = (await tally.queries.doctor()).checks.find(({ name }) => name === 'ledger')
    expect(after).toMatchObject({ status: 'failed' })
    expect(after?.message).toContain('it was tampered with')
    await disk.remove()
  })
})
