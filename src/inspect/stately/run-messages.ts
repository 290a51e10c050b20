import {
  type FoldObserver,
  type JournalEntry,
  type MadeBlock,
  type RecordedEntry,
  RunReplay,
  type RunReplayOptions
} from '../../block/index.js'
import type { Json, JsonObject } from '../../core/index.js'
import {
  type EventShown,
  INSPECTION_VERSION,
  type InspectionMessage,
  type SnapshotShown
} from './message.js'
import { fitting, redacted, withoutPayloads } from './shown.js'

export interface RunMessagesOptions extends Omit<RunReplayOptions, 'observer'> {
  /** Shows what callers and blocks gave, except in a run that keeps anything private. */
  readonly payloads: boolean
}

type Parameters<Name extends keyof FoldObserver> = Readonly<
  globalThis.Parameters<FoldObserver[Name]>
>

/**
 * The messages of one run for Stately's inspector, made from its journal: the entries go through
 * the pure charts, and what those get and become is told. A live run and one that ended long ago
 * give the same messages, byte for byte.
 *
 * Owns: where the run's charts stand. Does not own: the journal, and whether it is right;
 * verification says that.
 *
 * - N1: every session has its actor message first, and parents come before their children.
 * - N2: same entries, same messages, whatever has been taken together.
 * - N3: without `payloads`, or where the run keeps anything private, no payload is in a message.
 */
export class RunMessages implements FoldObserver {
  readonly #options: RunMessagesOptions
  #replay: RunReplay | undefined
  readonly #showsPayloads: boolean
  #taken: InspectionMessage[] = []
  #at = 0
  #root: SnapshotShown | undefined
  #rootEvent: EventShown = { type: '' }

  constructor(options: RunMessagesOptions) {
    this.#options = options
    this.#showsPayloads = options.payloads && !options.root.isPrivate()
  }

  /** Takes the next entry of the journal. */
  take({ entry, text, receiptHash }: Omit<RecordedEntry, 'mac'>): readonly InspectionMessage[] {
    this.#at = entry.at
    // Its root is made, and shown, at the time of the first entry.
    this.#replay ??= new RunReplay({ ...this.#options, observer: this })
    this.#replay.take(entry, text, { receiptHash, item: entry.n })
    if (entry.k === 'run.finished') this.#finish(entry)
    const taken = this.#taken
    this.#taken = []
    return taken.map(fitting)
  }

  made({ path, parent, name, config, state }: MadeBlock): void {
    this.#taken.push({
      type: '@xstate.actor',
      ...this.#base(path),
      name,
      ...(parent === null ? {} : { parentId: this.#session(parent) }),
      definition: JSON.stringify(config),
      snapshot: this.#snapshot(state)
    })
  }

  received(...[path, event, from]: Parameters<'received'>): void {
    this.#taken.push({
      type: '@xstate.event',
      ...this.#base(path),
      ...(from === null ? {} : { sourceId: this.#session(from) }),
      event: this.#event(event)
    })
  }

  changed(...[path, state, event]: Parameters<'changed'>): void {
    const snapshot = this.#snapshot(state)
    const shown = this.#event(event)
    this.#taken.push({ type: '@xstate.snapshot', ...this.#base(path), snapshot, event: shown })
    if (path !== ROOT) return
    this.#root = snapshot
    this.#rootEvent = shown
  }

  /** The run has ended: its root is over, though its chart could be executed again. */
  #finish({ status, response }: Extract<JournalEntry, { readonly k: 'run.finished' }>): void {
    const { data, reason = status } = response
    const end: SnapshotShown =
      status === 'done'
        ? { status, output: this.#payload(data) }
        : { status: 'error', error: reason }
    const snapshot = { ...this.#root, ...end }
    const event = this.#rootEvent
    this.#taken.push({ type: '@xstate.snapshot', ...this.#base(ROOT), snapshot, event })
  }

  #base(path: string) {
    return {
      _version: INSPECTION_VERSION,
      createdAt: String(this.#at),
      id: null,
      rootId: this.#session(ROOT),
      sessionId: this.#session(path)
    } as const
  }

  #session(path: string): string {
    return `${this.#options.runId}/${path}`
  }

  #snapshot({ value, context }: MadeBlock['state']): SnapshotShown {
    // Charts keep plain JSON: they survive a restart.
    const shown = this.#payload(context as Json)
    return { status: 'active', value: value as Json, context: shown, children: {} }
  }

  #event(event: { readonly type: string }): EventShown {
    const plain = event as unknown as JsonObject & EventShown
    return this.#showsPayloads ? plain : { ...withoutPayloads(plain), type: event.type }
  }

  #payload(value: Json): Json {
    return this.#showsPayloads ? value : redacted(value)
  }
}

const ROOT = 'root'
