import type { RunId } from '../../../../src/core/index.js'
import { unwrapText } from '../../../../src/ledger/envelope.js'
import { collect, commit, entry, loneItem, newLedger, START_AT } from './support.js'

export interface Vectors {
  readonly seed: string
  readonly blobKey: string
  readonly receipts: readonly string[]
  readonly evidence: string
  readonly commitRecords: readonly string[]
  readonly head: string
}

/** The scenario of the vectors: what test/vectors/receipt.json holds is what this writes. */
export async function scenario(): Promise<Omit<Vectors, 'seed' | 'blobKey'>> {
  const { ledger, store, keys } = await newLedger()
  await commit(ledger, loneItem({ id: 'first', writes: { 'wallet/balance': '10' } }))
  await commit(
    ledger,
    loneItem({
      id: 'second',
      payloadPrivate: true,
      raw: 'send ten to alice',
      result: { receipt: 'é\u2028'.repeat(400) },
      writes: { 'wallet/balance': '0', 'wallet/sent': ['alice', 10.5, null] },
      base: ledger.head() ?? 'GENESIS'
    })
  )
  const runId = 'run-third' as RunId
  await commit(ledger, {
    ...loneItem({ id: 'third', writes: { 'wallet/balance': undefined } }),
    runId,
    entries: [entry(runId, 0, { k: 'run.started', status: 'running' })],
    evidence: {
      type: 'failure',
      unitId: 'fourth' as never,
      action: 'wallet.send',
      payloadText: '{"amount":"10"}',
      landed: [],
      code: 'capability.denied',
      details: { capability: 'wallet.send' },
      at: START_AT
    }
  })
  const log = await collect(ledger.log())
  const records = await collect(
    store.entries({ gte: `${keys.identity}/commit/`, lt: `${keys.identity}/commit0` })
  )
  const head = `${keys.identity}/head`
  return {
    receipts: log.filter(({ kind }) => kind === 'receipt').map(({ text }) => text),
    evidence: log.find(({ kind }) => kind === 'evidence')?.text ?? '',
    commitRecords: records.map(([key, value]) => unwrapText(key, value)),
    head: unwrapText(head, store.get(head) ?? Buffer.alloc(0))
  }
}
