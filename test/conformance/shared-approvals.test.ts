import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import { canonicalize, type Json, type JsonObject } from '../../src/core/index.js'
import { type JournalItem, type Store, writeSnapshot } from '../../src/ledger/index.js'
import { documentOf, nextSignature, twoOfThree } from '../support/approvers.js'
import { isTaken } from '../support/effort.js'
import { forgedLedger, type HonestScene, honestLedger, verifyForged } from '../support/forge.js'
import { testKeys } from '../support/lives.js'
import { verifiedByPython } from '../support/python-verifier.js'

/**
 * K14: each call of an effect under an obligation has an approval of its own. Both verifiers find a
 * ledger whose owner has left a question out, so that one approval stands for two calls.
 */

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-shared-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

type Approvers = typeof twoOfThree

/** A block that sends twice, and is asked about each. */
function sceneOf(approvers: Approvers | undefined, sent: readonly Json[]): HonestScene {
  const twice = defineBlock({
    name: 'twice',
    version: '1.0.0',
    sideEffects: 'idempotent',
    run: async (ctx) => {
      for (const request of sent) await ctx.effect('bank.pay', { request, perform: () => 'paid' })
      return null
    }
  })
  const confirm = approvers === undefined ? true : { approvers }
  return {
    code: { blocks: [twice], obligations: { effects: { 'bank.pay': { confirm } } } },
    document: documentOf({ block: 'twice' }),
    answer: async (run, { token, digest }) => {
      for (let given = 0; given < twoOfThree.threshold; given += 1) {
        const open = (await run.waits()).find((wait) => wait.token === token)
        if (open === undefined) return
        const approval = nextSignature(open, { action: 'approve', value: null })
        await run.approve(token, { digest, ...(approval === undefined ? {} : { approval }) })
      }
    }
  }
}

/** The ledger without a question and its answer: everything else is as it was, and signed anew. */
function without(question: number, items: readonly JournalItem[]): readonly JournalItem[] {
  const entries = items.map(({ entries: [text = '{}'] }) => JSON.parse(text) as JsonObject)
  const from = entries.findIndex(({ k, seq }) => k === 'wait' && seq === question)
  const to = entries.findIndex(({ k, seq }) => k === 'sealed' && seq === question)
  const kept = [...items.keys()].filter((at) => at < from || at > to)
  return kept.map((at, n) => {
    const item = items[at] as JournalItem
    const { unit } = item
    const isUnit = unit !== undefined && unit.sealed.length > 0
    return {
      ...item,
      entries: [canonicalize({ ...entries[at], n })],
      ...(isUnit
        ? { unit: { ...unit, sealed: unit.sealed.filter(({ seq }) => seq !== question) } }
        : {})
    }
  })
}

async function saidByPython(stores: readonly Store[], name: string) {
  const paths = stores.map((_, at) => join(folder, `${name}-${at}.snapshot`))
  for (const [at, path] of paths.entries()) {
    const store = stores[at] as Store
    await writeSnapshot({ store, identity: testKeys.identity, path, note: null })
  }
  return verifiedByPython(paths).reports
}

const rows = [
  { asked: 'anybody', approvers: undefined, sent: 'the same', payloads: ['10', '10'] },
  { asked: 'anybody', approvers: undefined, sent: 'another', payloads: ['10', '99'] },
  { asked: 'approvers', approvers: twoOfThree, sent: 'the same', payloads: ['10', '10'] },
  { asked: 'approvers', approvers: twoOfThree, sent: 'another', payloads: ['10', '99'] }
]

describe('an approval that stands for two calls of an effect', () => {
  it.each(rows.filter((_, at) => isTaken(at, 3)))(
    'K14: is found by both verifiers, asked of $asked, of $sent payload',
    async ({ asked, approvers, sent, payloads }) => {
      const scene = sceneOf(approvers, payloads)
      const { store, items } = await honestLedger(scene)
      const name = `${asked}-${sent}`.replace(' ', '-')
      expect(await verifyForged(store, true, scene.code)).toMatchObject({ ok: true })
      // Calls are numbered: a question, its call, the next question, its call.
      const forged = [
        await forgedLedger(without(1, items)),
        await forgedLedger(without(3, items))
      ] as const
      for (const one of forged) {
        expect(await verifyForged(one, true, scene.code)).toMatchObject({ ok: false })
      }
      const isFound = { ok: false, failure: { field: 'approval of the effect bank.pay' } }
      expect(await saidByPython([store, ...forged], name)).toMatchObject([
        { ok: true, checked: { 'approvals that were obliged': 2 } },
        isFound,
        isFound
      ])
    }
  )
})
