import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyLedgerDeep } from '../../../src/audit/index.js'
import {
  canonicalize,
  type Json,
  ManualClock,
  type RunId,
  sha256Hex
} from '../../../src/core/index.js'
import { defineBlock } from '../../../src/index.js'
import { type Ledger, openMemoryStore } from '../../../src/ledger/index.js'
import type { WiredRuntime } from '../../../src/runtime/runtime.js'
import { openLedger } from '../../support/ledgers.js'
import { openOn, testKeys } from '../../support/lives.js'
import { expectVerifyFailure } from '../../support/verified-close.js'

// A block whose behaviour a test changes behind its name and version.
let isHonest = true

const guarded = defineBlock({
  name: 'guarded',
  version: '1.0.0',
  sideEffects: 'none',
  capabilities: ['ask'],
  intents: ['guarded.take'],
  run: async (ctx) => {
    if (!isHonest) return { taken: 0 }
    const left = ctx.state.get<number>('left') ?? 0
    const price = await ctx.effect<number>('ask', { perform: () => 7 })
    if (left < price) return ctx.fail('too_little', { left, price })
    ctx.state.set('left', left - price)
    return { taken: price }
  }
})

let tally: WiredRuntime

beforeAll(async () => {
  tally = await openOn(openMemoryStore(), { blocks: [guarded], clock: new ManualClock(1_000) })
  const reply = await tally.intent({ id: 'short', action: 'guarded.take' })
  expect(reply).toMatchObject({ type: 'error', reason: 'too_little', details: { price: 7 } })
})

afterAll(() => tally.close())

describe('K8: failures of single-step runs', () => {
  it('are executed again, to the same code and details', async () => {
    const report = await tally.verify({ executions: 2 })
    expect(report.failure).toBeUndefined()
    expect(report).toMatchObject({ receipts: 0, evidence: 1, reexecutedFailures: 1 })
    expect(report.line).toContain('re-executed 0 and 1 failure')
  })

  it('are found when the code gives another result', async () => {
    isHonest = false
    const { ok, failure } = await tally.verify()
    isHonest = true
    expect(ok).toBe(false)
    // The recorded answer is the first thing that the other code does not ask for.
    expect(failure).toMatchObject({ field: 'sealed.1', computed: 'no such call' })
  })

  it('are written once more with the own key, honestly', async () => {
    expect((await rewritten(() => undefined)).failure).toBeUndefined()
  })

  it.each([
    ['reason', 'all_well'],
    ['details', { left: 0, price: 9 }],
    ['errorType', 'Other']
  ] as const)('are found when %s is changed everywhere and signed anew', async (member, value) => {
    const { failure } = await rewritten((response) => {
      response[member] = value
    })
    expect(failure).toMatchObject({ field: 'journal.response', key: 'short' })
  })

  it('L10: stand only while the state that they rest on does', async () => {
    const fill = defineBlock({
      name: 'fill',
      version: '1.0.0',
      sideEffects: 'none',
      intents: ['fill'],
      run: (ctx) => ctx.state.set('left', 20)
    })
    const late = defineBlock({
      name: 'late',
      version: '1.0.0',
      sideEffects: 'none',
      capabilities: ['ask'],
      intents: ['late'],
      run: async (ctx) => {
        const left = ctx.state.get<number>('left') ?? 0
        await ctx.effect('ask', { perform: () => filled })
        return left < 7 ? ctx.fail('too_little') : { left }
      }
    })
    let fillNow = (): void => undefined
    const filled = new Promise<null>((resolve) => {
      fillNow = () => resolve(null)
    })
    await using other = await openOn(openMemoryStore(), { blocks: [fill, late] })
    const waiting = other.intent({ id: 'late', action: 'late' })
    await other.intent({ id: 'fill', action: 'fill' })
    fillNow()
    expect(await waiting).toMatchObject({ type: 'dapp', left: 20 })
    expect(await other.verify()).toMatchObject({ ok: true, reexecuted: 2, evidence: 0 })
  })

  it('are found when evidence alone says something else', async () => {
    expectVerifyFailure('journal.response.reason')
    expectVerifyFailure('journal.response.details')
    const code = await rewritten(() => undefined, { code: 'too_much' })
    expect(code.failure).toMatchObject({ field: 'evidence.code', signed: 'too_much' })
    const details = await rewritten(() => undefined, { details: { left: 1, price: 7 } })
    expect(details.failure).toMatchObject({ field: 'evidence.details' })
  })
})

/** What the holder of the key can make of the run: hashes, links and signatures all in order. */
async function rewritten(
  change: (response: Record<string, Json>) => void,
  evidence: { readonly code?: string; readonly details?: Json } = {}
) {
  const store = openMemoryStore()
  const { blobKey, identity } = testKeys
  const signer = testKeys.signer()
  const ledger = await openLedger({ store, identity, signer, blobKey, create: 'if-absent' })
  await rewrite(ledger, change, evidence)
  await ledger.close()
  return verifyLedgerDeep({ store, identity, code: tally.registry })
}

async function rewrite(
  ledger: Ledger,
  change: (response: Record<string, Json>) => void,
  evidence: { readonly code?: string; readonly details?: Json }
): Promise<void> {
  const runId = 'short' as RunId
  const entries: string[] = []
  let journalHash = ''
  let response: Record<string, Json> = {}
  for await (const { value } of tally.journal(runId)) {
    const entry = structuredClone(value) as Record<string, Json>
    if (entry['k'] === 'settled' || entry['k'] === 'run.finished') {
      response = entry['response'] as Record<string, Json>
      change(response)
    }
    if (entry['k'] === 'run.finished') entry['journalHash'] = journalHash
    entries.push(canonicalize(entry))
    journalHash = sha256Hex(journalHash + entries.at(-1))
  }
  const last = entries.pop() ?? ''
  ledger.append({ runId, entries })
  const { value: record } = await tally.ledger.log()[Symbol.asyncIterator]().next()
  const { inputPayload, landed, type } = record.evidence
  ledger.append({
    runId,
    entries: [last],
    evidence: {
      type,
      unitId: inputPayload.id,
      action: inputPayload.action,
      payloadText: canonicalize(inputPayload.payload),
      landed,
      journalHash: JSON.parse(last).journalHash,
      code: String(response['reason']),
      details: { ...(response['details'] as object), in_doubt: [] },
      at: 1_000,
      ...evidence
    }
  })
}
