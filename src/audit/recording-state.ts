import { canonicalize } from '../core/index.js'
import type { StateView } from '../ledger/index.js'
import type { RecordedValue, RunRecording } from './run-recording.js'

/** A change as verifications have it: null without the key, undefined where it is withheld. */
export interface TextChange {
  readonly key: string
  readonly text: string | null | undefined
}

export function textChange({ key, value, withheld }: RecordedValue): TextChange {
  if (withheld !== undefined) return { key, text: undefined }
  return { key, text: value === undefined ? null : canonicalize(value) }
}

/**
 * The state that a recorded run has had before it, entry by entry, with a note of what was read.
 *
 * Owns: what was asked for, and what of it the recording does not have.
 */
export class RecordingState implements StateView {
  readonly #texts = new Map<string, string | null | undefined>()
  readonly #lists: readonly string[]
  readonly #read = new Set<string>()
  readonly #listed = new Set<string>()
  /** Keys and prefixes that were asked for and that the recording does not have. */
  readonly unknownKeys = new Set<string>()
  readonly unknownPrefixes = new Set<string>()

  constructor({ state, lists }: Pick<RunRecording, 'state' | 'lists'>) {
    this.#lists = lists
    this.change(state.map(textChange))
  }

  /** Both of them, in words. */
  get unknown(): readonly string[] {
    return [...this.unknownKeys, ...[...this.unknownPrefixes].map((prefix) => `${prefix}*`)]
  }

  change(changes: readonly TextChange[]): void {
    for (const { key, text } of changes) this.#texts.set(key, text)
  }

  read(key: string): string | undefined {
    this.#read.add(key)
    if (!this.#texts.has(key) && !this.#hasList(key)) this.unknownKeys.add(key)
    return this.#texts.get(key) ?? undefined
  }

  list(prefix: string): readonly string[] {
    this.#listed.add(prefix)
    if (!this.#hasList(prefix)) this.unknownPrefixes.add(prefix)
    return [...this.#texts]
      .filter(([key, text]) => text !== null && key.startsWith(prefix))
      .map(([key]) => key)
      .sort()
  }

  /** The recording with no more of the state than was read. */
  narrowed(recorded: RunRecording): RunRecording {
    const lists = [...this.#listed].sort()
    const isRead = ({ key }: RecordedValue) =>
      this.#read.has(key) || lists.some((prefix) => key.startsWith(prefix))
    const state = recorded.state.filter(isRead)
    const there = new Set(state.map(({ key }) => key))
    const absent = [...this.#read].filter((key) => !there.has(key)).map((key) => ({ key }))
    const entries = recorded.entries.map(({ elsewhere = [], ...entry }) => {
      const seen = elsewhere.filter(isRead)
      return seen.length === 0 ? entry : { ...entry, elsewhere: seen }
    })
    const byKey = (one: RecordedValue, other: RecordedValue) => (one.key < other.key ? -1 : 1)
    return { ...recorded, state: [...state, ...absent].sort(byKey), lists, entries }
  }

  #hasList(key: string): boolean {
    return this.#lists.some((prefix) => key.startsWith(prefix))
  }
}
