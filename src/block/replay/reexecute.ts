import {
  type Attribution,
  type Block,
  type Call,
  CallRun,
  type CallRunInput,
  type Outcome,
  type Request,
  StateView,
  withoutThrown
} from '../../code/index.js'
import {
  type ActorPath,
  blockError,
  canonicalize,
  type Hash,
  hashJson,
  type Json,
  limits,
  nextTurn,
  type RunId,
  type TallyError,
  type UnitId
} from '../../core/index.js'
import type { Finding } from './finding.js'

/** A sealed answer, as re-execution gives it; without `requestHash` the request is not compared. */
export interface SealedAnswer {
  readonly seq: number
  readonly effect: string
  readonly requestHash?: Hash
  readonly ok: boolean
  readonly body: Json
  /** When it was given, milliseconds on the run's clock: what code of a workflow goes by. */
  readonly at?: number
}

export type Reexecuted =
  | {
      readonly kind: 'settled'
      readonly outcome: Outcome
      /** Capabilities that the code asked for, sorted. */
      readonly used: readonly string[]
      /** What the kernel says of it. */
      readonly attribution?: Attribution
    }
  | {
      readonly kind: 'diverged'
      readonly finding: Finding
      /** Every answer was asked for, and what the code waits for has none. */
      readonly isUnanswered: boolean
    }

/**
 * Runs a block's code again with the answers that it got (architecture.md §1): one sealed entry at
 * a time in the recorded order, microtasks drained between, no clock and no IO. A call that the
 * recorded results do not answer, an entry that no call asks for, and code that waits for something
 * outside `ctx` are findings. `heard` gets each call that the code makes. Rejects with
 * `run.not_executed` when something around the code fails.
 */
export async function executeOnRecordedResults(
  input: CallRunInput,
  recordedResults: readonly SealedAnswer[],
  heard: (call: Call) => void = () => undefined
): Promise<Reexecuted> {
  let outcome: Outcome | undefined
  let halted: TallyError | undefined
  const unanswered = new Map<number, Call>()
  const execution = new CallRun(input, {
    called: (call) => {
      unanswered.set(call.seq, call)
      heard(call)
    },
    settled: (settled) => {
      outcome = withoutThrown(settled)
    },
    log: () => undefined,
    returned: () => undefined,
    again: () => undefined,
    halted: (cause) => {
      halted = cause
    }
  })
  execution.start()
  for (const entry of recordedResults) {
    // Number 0 is the node's own confirmation, which the code does not see.
    if (entry.seq === 0) continue
    await nextTurn()
    if (execution.isElsewhere) await execution.settledElsewhere()
    if (halted !== undefined) throw notExecuted(halted)
    // The children of a workflow function may end behind the code that has called them.
    const isBehind = input.block.body !== undefined && execution.isOver
    const call = (isBehind ? unanswered : execution.outstanding).get(entry.seq)
    const finding = contradiction(call, entry)
    if (finding !== undefined) return diverged(execution, finding, false)
    unanswered.delete(entry.seq)
    if (!isBehind) call?.answer(entry.ok, entry.body, entry.at)
  }
  if (!execution.isOver) await patience(execution)
  if (halted !== undefined) throw notExecuted(halted)
  if (outcome === undefined) {
    return diverged(execution, stalled(execution), execution.outstanding.size > 0)
  }
  const { attribution } = execution
  const settled = { kind: 'settled', outcome, used: [...execution.used].sort() } as const
  return attribution === undefined ? settled : { ...settled, attribution }
}

function notExecuted(cause: TallyError): TallyError {
  return blockError('run.not_executed', { problem: cause.message }, { cause })
}

/** How an answer is not one to a call that the code has made. */
function contradiction(call: Call | undefined, entry: SealedAnswer): Finding | undefined {
  const field = `sealed.${entry.seq}`
  if (call === undefined) {
    return { field, signed: `a response to ${entry.effect}`, computed: 'no such call' }
  }
  if (call.effect !== entry.effect) {
    return { field, signed: entry.effect, computed: call.effect }
  }
  const { requestHash } = entry
  if (requestHash !== undefined && requestHash !== call.requestHash) {
    return { field: `${field}.requestHash`, signed: requestHash, computed: call.requestHash }
  }
  return undefined
}

/** Lets the code run as far as it gets by itself; most code needs no turn of the event loop. */
async function patience(execution: CallRun): Promise<void> {
  for (let tick = 0; tick < limits.PUMP_PATIENCE_TICKS; tick += 1) {
    await undefined
    if (execution.isOver) return
  }
  await nextTurn()
  await execution.settledElsewhere()
}

function stalled(execution: CallRun): Finding {
  const [call] = execution.outstanding.values()
  if (call === undefined) {
    return {
      field: 'execution',
      signed: 'an end without anything but ctx',
      computed: 'it waits for something outside ctx'
    }
  }
  return {
    field: `sealed.${call.seq}`,
    signed: 'none',
    computed: `a response to ${call.effect}`
  }
}

function diverged(execution: CallRun, finding: Finding, isUnanswered: boolean): Reexecuted {
  execution.abandon()
  return { kind: 'diverged', finding, isUnanswered }
}

/** What one execution outside any run came to. */
export interface OnceResult {
  readonly executed: Reexecuted
  /** Its calls in order, each with the hash of its request: answers hide how requests differ. */
  readonly asked: readonly string[]
  readonly writes: readonly (readonly [key: string, text: string | null])[]
  readonly reads: readonly string[]
}

const noRequest: Pick<Request, 'context' | 'metadata'> = {
  context: {},
  metadata: {
    id: 'once',
    traceId: hashJson(['trace', 'once']).slice(0, 32),
    spanId: 'root:1',
    runId: 'once',
    blockName: 'once',
    nodeName: 'root',
    attempt: 1,
    sideEffectClass: 'none'
  }
}

/** Executes a block once, outside any run, at a fixed time with a fixed seed. */
export async function checkOnce(
  block: Block,
  given: {
    readonly input: Json
    readonly state: Readonly<Record<string, Json>>
    readonly recordedResults: readonly SealedAnswer[]
  }
): Promise<OnceResult> {
  const { input, state, recordedResults } = given
  const below = new Map(Object.entries(state).map(([key, value]) => [key, canonicalize(value)]))
  const view = new StateView((key) => below.get(key))
  const unitId = hashJson(['once', block.name]) as unknown as UnitId
  const asked: string[] = []
  const executed = await executeOnRecordedResults(
    {
      runId: 'once' as RunId,
      unitId,
      path: 'root' as ActorPath,
      attempt: 1,
      at: 1_700_000_000_000,
      block,
      payload: input,
      request: noRequest,
      view,
      lazy: {
        seed: { value: hashJson(['seed', unitId]) },
        signal: new AbortController().signal
      }
    },
    recordedResults,
    ({ effect, requestHash }) => asked.push(`${effect} ${requestHash}`)
  )
  return { executed, asked, writes: [...view.writes], reads: [...view.reads.keys()] }
}
