import type {
  AttemptCommand,
  BlockReport,
  DoneAtOnce,
  JournalEntry,
  Position,
  RunObserver,
  SentEffect,
  StepPlace,
  TakenEntry
} from '../block/index.js'

/** An observer of a run that a fault of telemetry does not disturb. */
export class GuardedRun implements RunObserver {
  readonly #observer: RunObserver
  readonly #safely: <Value>(work: () => Value) => Value | undefined

  constructor(observer: RunObserver, safely: <Value>(work: () => Value) => Value | undefined) {
    this.#observer = observer
    this.#safely = safely
  }

  get entries(): number {
    return this.#observer.entries
  }

  took(entry: JournalEntry, taken: TakenEntry): void {
    this.#safely(() => this.#observer.took(entry, taken))
  }

  appended(position: Position): void {
    this.#safely(() => this.#observer.appended(position))
  }

  asked(ask: AttemptCommand, at: number, around: readonly StepPlace[]): void {
    this.#safely(() => this.#observer.asked(ask, at, around))
  }

  reported(path: string, report: BlockReport): void {
    this.#safely(() => this.#observer.reported(path, report))
  }

  sending(effect: SentEffect): string | undefined {
    return this.#safely(() => this.#observer.sending(effect))
  }

  located(effect: SentEffect): void {
    this.#safely(() => this.#observer.located(effect))
  }

  did(run: DoneAtOnce): void {
    this.#safely(() => this.#observer.did(run))
  }
}
