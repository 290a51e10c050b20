import type { Json } from '../../../src/core/index.js'
import { hashJson } from '../../../src/core/index.js'
import type { DocumentGraph, RunView, WaitLine } from '../../../src/runtime/index.js'
import { FakeJournal, type FakeWait, START } from './fake-journals.js'

/** A run of the fake ledger, with all that the page asks about it. */
export interface FakeRun {
  readonly view: RunView
  readonly graph: DocumentGraph
  readonly journal: FakeJournal
  readonly waits: readonly WaitLine['wait'][]
  /** Inputs of its steps by path, where what is drawn depends on them. */
  readonly payloads?: Readonly<Record<string, Json>>
}

const node = (id: string, does: string, confirm = false) => ({
  path: `root/${id}`,
  id,
  does,
  sideEffects: 'idempotent',
  confirm
})
const edge = (
  from: string,
  to: string,
  order: number | null = null,
  when: string | null = null
) => ({
  from,
  to,
  order,
  when
})

const payInvoices: DocumentGraph = {
  kind: 'composite',
  name: 'pay-invoices',
  nodes: [
    node('load', 'invoices.load'),
    node('pick', 'invoices.pick'),
    node('report', 'invoices.report'),
    node('book', 'invoices.book'),
    node('pay_large', 'invoices.pay', true),
    node('pay', 'invoices.pay')
  ],
  edges: [
    edge('load', 'pick'),
    edge('pick', 'report', 1, 'response.data.done'),
    edge('pick', 'book', 2, 'response.data.invoice.amount == "0.00"'),
    edge('pick', 'pay_large', 3, 'to_atomic(response.data.invoice.amount) > limit'),
    edge('pick', 'pay', 4),
    edge('book', 'pick'),
    edge('pay_large', 'pick'),
    edge('pay', 'pick')
  ]
}
const freight: DocumentGraph = {
  kind: 'workflow',
  name: 'freight',
  nodes: [
    node('quote', 'carrier.quote'),
    node('book', 'carrier.book', true),
    node('label', 'label.print'),
    node('notify', 'mail.send')
  ],
  edges: [
    edge('quote', 'book'),
    edge('book', 'label'),
    edge('book', 'notify'),
    edge('label', 'notify')
  ]
}
const lone = (name: string): DocumentGraph => ({
  kind: 'intent',
  name,
  nodes: [{ path: 'root', id: name, does: name, sideEffects: null, confirm: false }],
  edges: []
})

const payees = ['North Mill', 'Quarry Stone', 'Harbour Light', 'Willow & Sons']
const invoice = (place: number) => ({
  amount: `${(733.1 + place * 17).toFixed(2)}`,
  id: `INV-${2600 + place}`,
  payee: payees[place % payees.length] ?? ''
})

export interface MadeRun {
  readonly id: string
  readonly name?: string
  readonly graph: DocumentGraph
  readonly startedAt: number
  readonly input?: Json
  readonly tags?: readonly string[]
  readonly write: (journal: FakeJournal) => Ended
}

export interface Ended {
  readonly status: RunView['status']
  readonly response?: RunView['response']
  readonly waits?: readonly WaitLine['wait'][]
}

/** A run from what its journal is to say. */
export function madeRun({
  id,
  graph,
  name = graph.name,
  startedAt,
  input = {},
  tags,
  write
}: MadeRun): FakeRun {
  const journal = new FakeJournal(id, { name, input, startedAt })
  const { status, response = null, waits = [] } = write(journal)
  if (response !== null && (status === 'done' || status === 'failed')) {
    journal.finishes(status, response)
  }
  if (status === 'cancelled') {
    const details = { message: 'the order was withdrawn' }
    journal.finishes(status, {
      success: false,
      data: null,
      reason: 'cancelled',
      details,
      metadata: {}
    })
  }
  const view: RunView = {
    id: id as RunView['id'],
    ...(tags === undefined ? {} : { tags }),
    name,
    status,
    startedAt,
    updatedAt: journal.at,
    entries: journal.lines.length,
    waits,
    due: null,
    quarantined: false,
    notChecked: [],
    definitionHash: hashJson(graph as unknown as Json),
    input,
    response,
    receiptHash: status === 'done' ? hashJson([id, 'completed']) : null,
    live: status === 'running'
  }
  return { view, graph, journal, waits }
}

const succeeds = (data: Json): Ended => ({
  status: 'done',
  response: { success: true, data, metadata: {} }
})

function pays(count: number): (journal: FakeJournal) => void {
  return (journal) => {
    journal.step('load', { count }, { effect: 'invoices.read' })
    for (let place = 0; place < count; place += 1) {
      journal.step('pick', { invoice: invoice(place) })
      if (place === 7) journal.crashed(1_300)
      if (place === 9) journal.step('book', { booked: invoice(place).id })
      else journal.step('pay', invoice(place), { effect: 'bank.transfer', ms: 44 })
    }
  }
}

const asks = (node: string, wait: FakeWait, before: (journal: FakeJournal) => void = () => {}) => {
  return (journal: FakeJournal): Ended => {
    before(journal)
    return { status: 'waiting', waits: [journal.waits(node, wait) as never] }
  }
}

const resultUi = {
  layout: 'grid',
  widgets: [
    { type: 'stat', title: 'Paid', data: { value: '18 250.00', unit: 'EUR' } },
    { type: 'progress', title: 'Of the month', data: { value: 13, max: 20 } },
    {
      type: 'table',
      title: 'Largest',
      data: {
        columns: ['Invoice', 'Payee', 'Amount'],
        rows: [['INV-2617', 'Quarry Stone', '18250.00']]
      }
    },
    { type: 'chart', title: 'By week', data: { points: [3, 7, 2, 5].map((value) => ({ value })) } },
    { type: 'list', title: 'Left', data: ['INV-2705', 'INV-2706'] },
    { type: 'key-value', title: 'Account', data: { bank: 'North', number: '…4411' } },
    { type: 'code', title: 'Call', data: 'transfer(INV-2617)' },
    { type: 'map', title: 'Where', data: { place: 'harbour' } }
  ]
}

/** The runs of the fake ledger, oldest first. */
export function fakeRuns(): readonly FakeRun[] {
  let startedAt = START
  const next = () => {
    startedAt += 731
    return startedAt
  }
  const failed = (reason: string): Ended => ({
    status: 'failed',
    response: {
      success: false,
      data: null,
      reason,
      details: { message: 'no edge fits' },
      metadata: {}
    }
  })
  const old = Array.from({ length: 40 }, (_, place) =>
    madeRun({
      id: `mint-${100 + place}`,
      graph: lone('wallet.mint'),
      startedAt: next(),
      input: { amount: place },
      write: (journal) => {
        journal.step('', { minted: place })
        return succeeds({ minted: place })
      }
    })
  )
  return [...old, ...madeOnce(next, failed)]
}

function madeOnce(next: () => number, failed: (reason: string) => Ended): readonly FakeRun[] {
  return [
    madeRun({
      id: 'june',
      graph: payInvoices,
      startedAt: next(),
      input: { month: '2026-06' },
      tags: ['customer:42', 'month:2026-06'],
      write: (journal) => {
        pays(20)(journal)
        journal.step('pick', { done: true })
        journal.step('report', { paid: 19 })
        return succeeds({ paid: 19, ui: resultUi })
      }
    }),
    madeRun({
      id: 'greet-ada',
      graph: lone('greetings'),
      startedAt: next(),
      write: (journal) => {
        journal.fails('', 'no_transition', { tries: 3 })
        return failed('no_transition')
      }
    }),
    madeRun({
      id: 'parcel-8790',
      graph: freight,
      startedAt: next(),
      write: (journal) => {
        journal.step('quote', { price: '12.00' })
        return { status: 'cancelled' }
      }
    }),
    madeRun({
      id: 'parcel-8812',
      graph: freight,
      startedAt: next(),
      write: asks('book', unknownOutcome, (journal) => {
        journal.step('quote', { price: '12.00' })
      })
    }),
    madeRun({
      id: 'parcel-8771',
      graph: freight,
      startedAt: next(),
      write: asks('quote', {
        reason: 'external',
        request: { request: { need: 'tracking number', parcel: 'P-8771' } },
        actions: ['resume', 'abort'],
        due: START + 3 * 86_400_000
      })
    }),
    madeRun({
      id: 'july',
      graph: payInvoices,
      startedAt: next(),
      write: asks('pay_large', confirmation, pays(5))
    }),
    madeRun({
      id: 'parcel-8815',
      graph: freight,
      startedAt: next(),
      write: (journal) => {
        journal.step('quote', { price: '19.00' })
        journal.begins('book', 'carrier.book')
        return { status: 'running' }
      }
    })
  ]
}

const confirmation: FakeWait = {
  reason: 'confirmation',
  request: {
    message: 'This invoice is above the limit. Pay it?',
    payload: { amount: '21400.00', id: 'INV-2705', payee: 'Quarry Stone' }
  },
  actions: ['approve', 'deny']
}
const unknownOutcome: FakeWait = {
  reason: 'decision',
  request: {
    unknown_outcome: 'carrier.book',
    failure: { reason: 'timeout', details: { message: 'the line broke' } },
    request: { parcel: 'P-8812', service: 'express' }
  },
  actions: ['resume', 'retry', 'abort']
}
