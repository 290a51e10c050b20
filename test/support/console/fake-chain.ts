import type { JournalEntry } from '../../../src/block/index.js'
import { canonicalize, type Hash, hashJson, type Json } from '../../../src/core/index.js'
import type { Calls, LogLine, ReceiptView } from '../../../src/runtime/index.js'
import { identity, START, signed } from './fake-journals.js'
import type { FakeRun } from './fake-runs.js'

export interface Chained {
  readonly line: LogLine
  readonly view: ReceiptView
}

export interface FakeEvidence {
  readonly line: LogLine
  /** Canonical JSON. */
  readonly record: string
}

/** A signed chain of what the runs settled; their journals get the hashes of its receipts. */
export function chainOf(runs: readonly FakeRun[]): readonly Chained[] {
  const chain: Chained[] = []
  for (const run of runs) {
    for (const [place, line] of run.journal.lines.entries()) {
      if (line.receiptHash === null) continue
      const one = chained(run, line.entry, chain)
      chain.push(one)
      run.journal.lines[place] = { ...line, receiptHash: one.line.hash }
    }
  }
  return chain
}

/** Signed evidence of the runs that failed, in the log behind the chain. */
export function evidenceOf(runs: readonly FakeRun[], from: number): readonly FakeEvidence[] {
  const failed = runs.filter(({ view }) => view.status === 'failed')
  return failed.map(({ view }, place): FakeEvidence => {
    const { id, name, input, response, updatedAt } = view
    const details: Json = response?.success === false ? (response.details ?? null) : null
    const body = {
      code: response?.success === false ? response.reason : 'failed',
      details,
      head: { receiptHash: null, seq: from },
      identity,
      inputPayload: { action: name, id: hashJson([id, 'root', 0]), payload: input },
      journalHash: hashJson([id, 'journal']),
      landed: [],
      publicKey: identity,
      timestamp: secondsOf(updatedAt),
      type: 'failure',
      version: 1
    }
    const evidenceHash = hashJson(body as Json)
    const record = canonicalize({ ...body, evidenceHash, signature: signed(evidenceHash) } as Json)
    const line: LogLine = {
      leaf: from + place,
      kind: 'evidence',
      index: null,
      hash: evidenceHash,
      commitSeq: from + place,
      at: updatedAt,
      runId: id,
      path: null,
      action: name,
      by: 'owner local'
    }
    return { line, record }
  })
}

/** The calls of a step, as its run's journal has them. */
export function callsAt({ journal }: FakeRun, path: string, step: number): Calls['calls'] {
  return journal.lines.flatMap(({ entry: line }) => {
    const entry = line as unknown as JournalEntry
    if (entry.k !== 'sealed' || entry.path !== path || entry.step !== step) return []
    const { seq, effect, requestHash, responseHash, salt, ok, body: response } = entry
    const request = { step, of: path }
    return [{ seq, effect, request, requestHash, response, responseHash, salt, ok }]
  })
}

const secondsOf = (at: number) => Math.floor((at - (START % 1_000)) / 1_000)

function chained(run: FakeRun, entry: Json, before: readonly Chained[]): Chained {
  const {
    at,
    path = null,
    step,
    response
  } = entry as {
    readonly at: number
    readonly path?: string
    readonly step?: number
    readonly response: { readonly data?: Json }
  }
  const index = before.length
  const result = response.data ?? null
  const id = run.view.id
  const node = run.graph.nodes.find((one) => one.path === path)
  const action = path === null ? 'run.completed' : (node?.does ?? run.graph.name)
  const by = `block:${action}@1.0.0`
  const payload = run.payloads?.[path ?? 'root'] ?? { run: id, step: step ?? 0 }
  const writeSet =
    index % 3 === 0
      ? [{ key: `payment/INV-${2600 + (index % 40)}`, after: { index, paid: true } }]
      : []
  const body = {
    capabilitiesDeclared: ['bank.transfer'],
    capabilitiesUsed: ['bank.transfer'],
    dappId: by,
    identity,
    inputHash: hashJson(payload),
    inputPayload: {
      run: { runId: id, path: path ?? 'root', step: step ?? 0, attempt: 1 },
      sealed: callsAt(run, path ?? 'root', step ?? 0).map(
        ({ seq, effect, requestHash, responseHash, response }) => ({
          ...{ seq, effect, requestHash, responseHash },
          bytes: canonicalize(response).length
        })
      )
    },
    intent: action,
    nextStateRoot: hashJson(['state', index]),
    previousReceiptHash: before.at(-1)?.line.hash ?? null,
    previousStateRoot: hashJson(['state', index - 1]),
    publicKey: identity,
    resultHash: hashJson(result),
    timestamp: secondsOf(at),
    version: 1
  }
  const hash: Hash = hashJson(body)
  const view: ReceiptView = {
    index,
    commitSeq: index,
    // Its members are those that the page draws.
    receipt: { ...body, receiptHash: hash, signature: signed(hash) } as never,
    writeSet,
    payload,
    result,
    withheld: [],
    notChecked: []
  }
  const place = { leaf: index, kind: 'receipt' as const, index, commitSeq: index }
  return { line: { ...place, hash, at, runId: id, path, action, by }, view }
}
