import type { CompiledWithChildren, JournalEntry } from '../../../block/index.js'
import { canonicalize } from '../../../core/index.js'
import type { StoredReceipt } from '../../../ledger/index.js'
import type { Play } from '../play.js'
import { type Broken, firstBroken, type MachinePromise, shortened } from './promise.js'

/** An atomic composite leaves all of its changes, by one receipt, or none. */
export const atomic: MachinePromise = {
  code: 'atomic',
  text: 'an atomic composite leaves all of its state, or nothing',
  check: (evidence) => {
    const { compiled } = evidence
    const declared = outermost(compiled, 'root')
    return firstBroken(evidence, (play) => {
      const paths = compiled.kind === 'function' ? called(play) : declared
      if (play.error !== undefined || paths.length === 0) return undefined
      return leaked(play, paths) ?? halfDone(play, paths)
    })
  }
}

/** The atomic parts of a workflow in code are those that have ended. */
function called({ journals }: Play): readonly string[] {
  const entries = [...journals.values()].flat()
  return [...new Set(entries.flatMap((entry) => (entry.k === 'scope' ? [entry.path] : [])))]
}

function outermost(compiled: CompiledWithChildren, path: string): readonly string[] {
  if (compiled.isOutermostOverlay) return [path]
  return [...compiled.nodes].flatMap(([name, node]) =>
    node.kind === 'leaf' ? [] : outermost(node, `${path}/${name}`)
  )
}

/** A step inside has left a receipt of its own. Deferred ones do, after the commit. */
function leaked({ receipts }: Play, paths: readonly string[]): Broken | undefined {
  for (const { receipt } of receipts) {
    const { run } = receipt.inputPayload
    const path = run?.path ?? ''
    const around = paths.find((one) => path.startsWith(`${one}/`))
    if (around === undefined || run?.parent !== undefined) continue
    return { problem: `${path} left a receipt of its own inside the atomic ${around}`, path }
  }
  return undefined
}

interface Write {
  readonly path: string
  readonly key: string
  readonly text: string | null
}

function halfDone(play: Play, paths: readonly string[]): Broken | undefined {
  for (const [runId, entries] of play.journals) {
    for (const path of paths) {
      let writes: Write[] = []
      for (const entry of entries) {
        writes = after(entry, path, writes)
        if (entry.k !== 'scope' || entry.path !== path) continue
        const left = play.receipts.filter(({ receipt: { inputPayload } }) => {
          const { run } = inputPayload
          return run?.runId === runId && run.path === path && run.step === entry.step
        })
        const broken = judged(entry.outcome, { path, writes, left })
        if (broken !== undefined) return broken
        if (entry.outcome === 'committed' || entry.outcome === 'aborted') writes = []
      }
    }
  }
  return undefined
}

/** What the overlay holds after one more entry: what an inner one has dropped is gone. */
function after(entry: JournalEntry, path: string, writes: Write[]): Write[] {
  if (entry.k === 'scope' && entry.path !== path && entry.path.startsWith(`${path}/`)) {
    const isDropped = entry.outcome === 'aborted' || entry.outcome === 'conflict'
    return isDropped ? writes.filter((one) => !one.path.startsWith(`${entry.path}/`)) : writes
  }
  if (entry.k === 'scope' && entry.path === path && entry.outcome === 'conflict') return []
  if (entry.k !== 'settled' || !entry.path.startsWith(`${path}/`)) return writes
  const own = entry.response.success ? (entry.overlay?.writes ?? []) : []
  return [...writes, ...own.map(([key, text]) => ({ path: entry.path, key, text }))]
}

function judged(
  outcome: string,
  found: {
    readonly path: string
    readonly writes: readonly Write[]
    readonly left: readonly StoredReceipt[]
  }
): Broken | undefined {
  const { path, writes, left } = found
  const [receipt] = left
  if (outcome === 'aborted' && receipt !== undefined && receipt.writeSet.length > 0) {
    const keys = receipt.writeSet.map(({ key }) => key).join(', ')
    return { problem: `${path} was rolled back and has changed ${keys}`, path }
  }
  if (outcome !== 'committed') return undefined
  if (left.length !== 1) {
    return { problem: `${path} has committed by ${left.length} receipts`, expected: 'one', path }
  }
  const last = new Map(writes.map(({ key, text }) => [key, text]))
  for (const { key, after: value } of receipt?.writeSet ?? []) {
    const actual = value === undefined ? null : canonicalize(value)
    if (last.get(key) === actual) continue
    const expected = shortened(String(last.get(key)))
    return { problem: `${path} has committed another ${key}`, expected, actual: `${actual}`, path }
  }
  return undefined
}
