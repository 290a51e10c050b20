import type { ServiceRequests, ServiceStreams } from '../runtime/index.js'

/** What a method of the service does: gives one result or many, and only reads or changes. */
export interface MethodKind {
  readonly gives: 'result' | 'stream'
  /** Changes the ledger, writes a file, or asks others outside: not done by a read-only console. */
  readonly changes: boolean
}

type Name = keyof ServiceRequests | keyof ServiceStreams

const read: MethodKind = { gives: 'result', changes: false }
const change: MethodKind = { gives: 'result', changes: true }
const reads: MethodKind = { gives: 'stream', changes: false }
const changes: MethodKind = { gives: 'stream', changes: true }

// A record of all names, so that a method which the service gains is judged before it is served.
const kinds: Readonly<Record<Name, MethodKind>> = {
  answer: changes,
  archiving: changes,
  calls: read,
  exceptions: read,
  cancel: change,
  chart: read,
  chartAt: read,
  counts: read,
  doctor: read,
  events: reads,
  export: change,
  exporting: changes,
  feed: reads,
  find: read,
  follow: reads,
  grants: read,
  install: change,
  intent: change,
  journal: reads,
  lint: read,
  locate: read,
  log: read,
  message: change,
  note: read,
  proof: read,
  published: read,
  queues: read,
  receipt: read,
  receipts: reads,
  recheck: change,
  recording: reads,
  replay: read,
  resolve: change,
  resumable: read,
  resume: changes,
  run: changes,
  runs: reads,
  schedules: read,
  show: read,
  signal: change,
  signals: read,
  start: change,
  state: read,
  stateHistory: read,
  stateProof: read,
  stateValue: read,
  stateValues: read,
  status: read,
  verify: read,
  verifying: reads,
  waits: read
}

/** Undefined for what is no method. */
export function methodKind(name: string): MethodKind | undefined {
  return Object.hasOwn(kinds, name) ? kinds[name as Name] : undefined
}

/** Every method of the service. */
export const methodNames: readonly string[] = Object.keys(kinds)
