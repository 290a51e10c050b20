import { readFile } from 'node:fs/promises'
import {
  type RecordingReplay,
  type RunRecording,
  recordingIn,
  recordingText
} from '../../audit/index.js'
import type { JournalEntry, RunStarted } from '../../block/index.js'
import type { Response } from '../../code/index.js'
import {
  type Hash,
  type IdentityId,
  type Json,
  type RunId,
  shownText,
  testingError
} from '../../core/index.js'
import { type CodeAtHand, recordRunAt, replayRecordingWith } from '../../runtime/index.js'
import { reportText } from './report-text.js'

/** What replaying a recorded run gave. Plain data. */
export interface RecordedReport extends RecordingReplay {
  /** All of it in lines, for people. */
  readonly text: string
}

type Sealed = JournalEntry & { readonly k: 'sealed' }

/** A response of the tape, as the code got it. */
export type RecordedResponse = Pick<
  Sealed,
  'path' | 'step' | 'attempt' | 'seq' | 'effect' | 'ok' | 'body'
>

/** What came from people: answers, decisions about failures, one of several signatures, signals. */
export type RecordedAnswer =
  | RecordedResponse
  | (JournalEntry & { readonly k: 'answered' | 'approval' | 'decision' | 'signal' | 'cancel' })

/** A run as a ledger has it. */
export class RecordedRun {
  /** All of it, as plain JSON. */
  readonly recording: RunRecording
  readonly #location: string | undefined

  constructor(recording: RunRecording, location?: string) {
    this.recording = recording
    this.#location = location
  }

  get id(): RunId {
    return this.recording.run
  }

  /** Name and version of its document, `name@version`; of an intent the action. */
  get target(): string {
    const { name, definition } = this.#started
    const { version } = definition
    return typeof version === 'string' ? `${name}@${version}` : name
  }

  get definitionHash(): Hash {
    return this.#started.definitionHash
  }

  get input(): Json {
    return this.#started.input
  }

  /** Milliseconds on its clock when it began. */
  get startedAt(): number {
    return this.#started.at
  }

  /** What its random numbers come from: the receipt before it. */
  get seedBase(): Hash | 'GENESIS' {
    return this.#started.base
  }

  /** `waiting`: parked; `running`: its process has left it. */
  get status(): string {
    const statuses = this.#entries.filter(({ k }) => k.startsWith('run.'))
    return shownText((statuses.at(-1) as { readonly status?: Json }).status)
  }

  /** Null until it has ended. */
  get response(): Response | null {
    const last = this.#entries.at(-1)
    return last?.k === 'run.finished' ? last.response : null
  }

  /** The responses of its effects, in the order in which its code got them. */
  get tape(): readonly RecordedResponse[] {
    return this.#entries.filter((entry) => entry.k === 'sealed')
  }

  get answers(): readonly RecordedAnswer[] {
    return this.#entries.filter((entry): entry is JournalEntry & RecordedAnswer =>
      entry.k === 'sealed' ? entry.effect === 'wait' : said.has(entry.k)
    )
  }

  /** State that it found, by key: all that there was, or what it has read. */
  get state(): Readonly<Record<string, Json>> {
    const there = this.recording.state.flatMap(({ key, value }) =>
      value === undefined ? [] : [[key, value] as const]
    )
    return Object.fromEntries(there)
  }

  /** What of it the ledger does not have any more, or nothing has authenticated, in words. */
  get notChecked(): readonly string[] {
    return [...this.recording.missing, ...this.recording.notChecked]
  }

  /**
   * Does the run again with this code, twice, and performs nothing. `code` is what `defineConfig`
   * takes. Throws what registering the code throws.
   */
  async replay(code: CodeAtHand): Promise<RecordedReport> {
    const { replay } = await replayRecordingWith(this.recording, code, this.#location)
    return { ...replay, text: reportText(replay) }
  }

  /**
   * The recording with no more of the state than this code has read, as text for a file that
   * {@link openRecording} reads. Throws as {@link replay} does, and `testing.private_run` where
   * code keeps something private, or is not here to say so: with `private` it is written as well.
   */
  async fixture(code: CodeAtHand, options: { readonly private?: boolean } = {}): Promise<string> {
    const replayed = await replayRecordingWith(this.recording, code, this.#location)
    const { narrowed, privacy } = replayed
    const { problem } = privacy
    if (problem !== undefined && options.private !== true) {
      throw testingError('testing.private_run', { run: this.id, problem })
    }
    return recordingText(narrowed)
  }

  get #entries(): readonly JournalEntry[] {
    // Entries may hold anything: a replay finds what does not fit.
    return this.recording.entries.map(({ entry }) => entry as unknown as JournalEntry)
  }

  get #started(): RunStarted {
    return this.#entries[0] as RunStarted
  }
}

const said = new Set(['answered', 'approval', 'decision', 'signal', 'cancel'])

/**
 * Reads one run of a ledger: of its directory, also while another process has it open, or of a
 * snapshot file. The ledger is verified up to the end of the run, and only read. Throws
 * `run.not_found`, `ledger.not_found`, and what opening for reading throws.
 */
export async function fromLedger(
  directory: string,
  runId: string,
  options: {
    /** Which identity of the ledger, if it has several. */
    readonly identity?: IdentityId
    /** Opens the key file, with which the journal of an open run is authenticated. */
    readonly passphrase?: string
  } = {}
): Promise<RecordedRun> {
  return new RecordedRun(await recordRunAt(directory, runId as RunId, options), directory)
}

/**
 * Reads a recording that `tally test from` wrote. Throws `testing.recording_invalid`.
 */
export async function openRecording(file: string | URL): Promise<RecordedRun> {
  const parsed = await recordingIn(await readFile(file, 'utf8'))
  if (parsed.ok) return new RecordedRun(parsed.recording)
  const { problem } = parsed
  throw testingError('testing.recording_invalid', { path: String(file), problem })
}
