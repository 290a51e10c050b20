import { checkOnce, type Finding, type SealedAnswer } from '../block/index.js'
import type { Block } from '../code/index.js'
import { canonicalize, type Json } from '../core/index.js'
import { type Ambient, reversed, variations, within } from './ambient.js'

/** What a block is executed on by {@link checkDeterminism}. */
export interface DeterminismOptions {
  readonly input: Json
  /** State that the block finds, by key. */
  readonly state?: Readonly<Record<string, Json>>
  /** Answers to its calls in the order of delivery; `seq` counts the calls from 1. */
  readonly tape?: readonly Pick<SealedAnswer, 'seq' | 'effect' | 'ok' | 'body'>[]
}

/** What {@link checkDeterminism} found. */
export interface DeterminismCheck {
  /** The code ended, and every run of it was the same. */
  readonly ok: boolean
  /**
   * Why the code did not end: a call that `tape` does not answer, an answer that no call asks for,
   * or a wait for something outside `ctx`. What it does after that was not checked.
   */
  readonly unended?: Finding
  /** What differs: the first run and the one that differs, canonical JSON. */
  readonly differing?: {
    /** What alone was changed between the two; `nothing`: two equal runs already differ. */
    readonly changed: string
    readonly first: string
    readonly second: string
  }
  /** What was changed between the runs, one run each. */
  readonly changed: readonly string[]
}

/**
 * Runs a block several times on the same input, state and answers. Clock and chance stand still in
 * the first run, and each further run changes one thing: the clock, the time zone, chance, the
 * order of keys. The outcome, the changes of state and the capabilities used must be the same
 * (K8, double run).
 *
 * It replaces built-ins of the whole process while it runs, so run it where nothing else happens.
 */
export async function checkDeterminism(
  block: Block,
  options: DeterminismOptions
): Promise<DeterminismCheck> {
  const first = await runIn({}, block, options)
  if (first.unended !== undefined) return { ok: false, unended: first.unended, changed: [] }
  const changed: string[] = []
  for (const { name, ambient = {}, isReversed } of variations()) {
    const input = isReversed === true ? reversed(options.input) : options.input
    const second = await runIn(ambient, block, { ...options, input })
    changed.push(name)
    if (second.text !== first.text) {
      const differing = { changed: name, first: first.text, second: second.text }
      return { ok: false, differing, changed }
    }
  }
  return { ok: true, changed }
}

interface Fingerprint {
  readonly text: string
  readonly unended?: Finding
}

function runIn(
  ambient: Ambient,
  block: Block,
  { input, state = {}, tape = [] }: DeterminismOptions
): Promise<Fingerprint> {
  return within(ambient, async () => {
    const given = { input, state, recordedResults: tape.map((one) => ({ ...one })) }
    const result = await checkOnce(block, given)
    const { executed } = result
    const text = canonicalize(result)
    return executed.kind === 'diverged' ? { text, unended: executed.finding } : { text }
  })
}
