import { isUnderWay, type JournalRow, type RunStep } from './run-steps.js'

/** A bar of a step in the timeline: working, waiting for others, backing off, and how it ended. */
export interface Bar {
  readonly kind: 'busy' | 'waiting' | 'backoff' | 'done' | 'failed'
  readonly from: number
  readonly to: number
  readonly title: string
}

/** A call of a step: what left the process, and what came back. */
export interface Tick {
  readonly entry: number
  readonly kind: 'requested' | 'sealed' | 'refused'
  readonly title: string
}

export interface Lane {
  readonly bars: readonly Bar[]
  readonly ticks: readonly Tick[]
}

/** Bars and ticks of a step as of entry `at`, from its entries; places are numbers of entries. */
export function laneOf(journal: readonly JournalRow[], step: RunStep, at: number): Lane {
  const bars: Bar[] = []
  const ticks: Tick[] = []
  let from = step.from
  let waits = false
  let hasFailed = false
  for (const number of step.entries) {
    const entry = journal[number]?.entry
    if (entry === undefined || (number > at && !step.isFuture)) continue
    hasFailed = entry.k === 'settled' && !entry.response.success
    switch (entry.k) {
      case 'waiting':
        bars.push({ kind: 'busy', from, to: number, title: 'busy' })
        from = number
        waits = true
        break
      case 'timer':
        bars.push({ kind: 'backoff', from, to: number, title: 'waits to try again' })
        from = number
        break
      case 'settled': {
        const { response } = entry
        const kind = waits ? 'waiting' : response.success ? 'done' : 'failed'
        const title = response.success ? 'done' : String(response.reason)
        bars.push({ kind, from, to: number, title })
        from = number
        waits = false
        break
      }
      case 'answered':
      case 'decision':
        bars.push({ kind: 'waiting', from, to: number, title: 'waited for an answer' })
        from = number
        waits = false
        break
      case 'requested':
        ticks.push({ entry: number, kind: 'requested', title: `${entry.effect} is sent` })
        break
      case 'sealed': {
        if (waits) bars.push({ kind: 'waiting', from, to: number, title: 'waited' })
        if (waits) from = number
        waits = false
        const kind = entry.ok ? 'sealed' : 'refused'
        ticks.push({ entry: number, kind, title: `${entry.effect} is ${kind}` })
        break
      }
      default:
        break
    }
  }
  if (step.isFuture) return { bars, ticks }
  const { state } = step
  if (isUnderWay(state)) {
    const kind = hasFailed ? 'backoff' : waits || state === 'waiting' ? 'waiting' : 'busy'
    bars.push({ kind, from, to: at + 0.5, title: hasFailed ? 'will try again' : kind })
  } else if (step.response === null && state !== 'cancelled') {
    bars.push({ kind: state, from, to: step.to, title: `${state} with its run` })
  }
  return { bars, ticks }
}

/** Where a run was parked, and where it was taken up again after its process was gone. */
export interface Mark {
  readonly entry: number
  readonly kind: 'parked' | 'crash'
}

export function marksOf(journal: readonly JournalRow[]): readonly Mark[] {
  return journal.flatMap(({ entry }, number): Mark[] => {
    if (entry.k === 'run.waiting') return [{ entry: number, kind: 'parked' }]
    const before = journal[number - 1]?.entry.k
    const isCrash = entry.k === 'run.resumed' && before !== 'run.waiting'
    return isCrash ? [{ entry: number, kind: 'crash' }] : []
  })
}

/** Part of the stick's height that an entry takes, and its colour where it is not wood. */
export function notchOf({ entry }: JournalRow): { size: number; colour?: string } {
  switch (entry.k) {
    case 'run.started':
    case 'run.finished':
    case 'scope':
      return { size: 1 }
    case 'run.waiting':
      return { size: 1, colour: 'var(--wait)' }
    case 'cancel':
      return { size: 1, colour: 'var(--off)' }
    case 'wait':
    case 'waiting':
      return { size: 0.86, colour: 'var(--wait)' }
    case 'decision':
    case 'answered':
    case 'approval':
    case 'signal':
      return { size: 0.86 }
    case 'settled':
      return entry.response.success ? { size: 0.72 } : { size: 0.72, colour: 'var(--bad)' }
    case 'run.resumed':
      return { size: 0.55 }
    case 'sealed':
      return { size: 0.42 }
    case 'requested':
    case 'called':
    case 'returned':
    case 'rewound':
    case 'timer':
      return { size: 0.3 }
  }
}

/** An entry in one line: its kind, its place, and what it is about. */
export function entryText({ entry }: JournalRow): string {
  const place = 'path' in entry ? ` ${entry.path.replace(/^root\//, '')}` : ''
  const effect = 'effect' in entry ? ` ${entry.effect}` : ''
  const reason = 'reason' in entry ? ` ${entry.reason}` : ''
  if (entry.k === 'signal') return `signal ${entry.name}`
  return `${entry.k}${place}${effect}${reason}`
}
