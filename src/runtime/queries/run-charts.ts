import type { RunStarted } from '../../block/index.js'
import { type Block, functionSchemaName } from '../../code/index.js'
import {
  blockError,
  limits,
  nextTurn,
  type RunId,
  referenceTo,
  versionedName
} from '../../core/index.js'
import type { JournalEntry, Ledger, RunRecord } from '../../ledger/index.js'
import { readyRun, recordedRun } from '../code/recorded-run.js'
import type { Registry } from '../code/registry.js'
import type { WrittenPicture } from '../run/kept-picture.js'
import { checkStarted } from '../run/shown.js'
import type { ComparedRuns } from './compared-runs.js'
import { type GraphNames, graphOf } from './document-graph.js'
import { neverRun, registryOf } from './journal-registry.js'
import { KeptPictures } from './kept-pictures.js'
import type { ChartAt, DocumentGraph, RunChart, SignalLine } from './picture-types.js'
import { type PictureEntry, RunPicture } from './run-picture.js'

export interface ChartParts {
  readonly ledger: Pick<
    Ledger,
    'run' | 'unit' | 'journalParts' | 'authenticate' | 'hasKey' | 'identity' | 'pictures'
  >
  readonly compared: ComparedRuns
  /** What is registered; without it a run's charts are made of what its journal says. */
  readonly registry: Registry | undefined
  /** Of the stretch that a run in memory is in; undefined: nothing in memory has it. */
  livePicture?(id: RunId): WrittenPicture | undefined
}

/**
 * Runs as pictures: the graph of a run's document, and where its charts stood after any entry.
 *
 * Owns: the pictures of the runs that were asked for last. Does not own: the journal.
 *
 * - Q1 `PICTURES_MAX` are kept, of `PICTURE_ENTRIES_MAX` entries together at most; a fold goes on
 *   where its picture ends, and asking for an entry before it folds the journal anew.
 * - Q3 The journal is compared with what authenticates it as far as it is folded, while it is for
 *   the first time, and before anything is shown ({@link ComparedRuns}). Of a graph the first
 *   entries are, which it is made of.
 */
export class RunCharts {
  readonly #parts: ChartParts
  /** The one that was asked for last at the end. */
  readonly #pictures = new Map<RunId, RunPicture>()
  readonly #kept: KeptPictures
  #turn: Promise<unknown> = Promise.resolve()

  constructor(parts: ChartParts) {
    this.#parts = parts
    this.#kept = new KeptPictures(parts)
  }

  /** Throws `run.not_found`, and the codes of what is not as signed. */
  async chart(id: RunId): Promise<RunChart> {
    const record = this.#record(id)
    await this.#parts.compared.checkBeginning(record)
    const started = record.started as unknown as RunStarted
    const { definitionHash, name, definition } = started
    const graph =
      definition['schema'] === functionSchemaName
        ? await this.#called(name, record)
        : graphOf(started, this.#names(started))
    return { id, definitionHash, graph }
  }

  async #called(name: string, record: RunRecord): Promise<DocumentGraph> {
    // Most runs are documents.
    const { calledGraph } = await import('./called-graph.js')
    return structuredClone(await calledGraph(name, this.#parts.compared.journal(record)))
  }

  /**
   * How a run stood after an entry, by default and at most its last. Throws `run.not_found`,
   * `run.code_missing`, `run.definition_changed`, and the codes of what is not as signed.
   */
  chartAt(id: RunId, entry: number | undefined): Promise<ChartAt> {
    const asked = this.#turn.catch(() => undefined).then(() => this.#chartAt(id, entry))
    this.#turn = asked
    return asked
  }

  /**
   * Signals that a run has not taken, as it stands; of one that has ended those that it never took.
   * Rejects as {@link chartAt} does.
   */
  signals(id: RunId): Promise<readonly SignalLine[]> {
    const asked = this.#turn.catch(() => undefined).then(() => this.#signals(id))
    this.#turn = asked
    return asked
  }

  async #signals(id: RunId): Promise<readonly SignalLine[]> {
    const record = await this.#begun(id)
    const picture = await this.#picture(record, record.entries - 1)
    return picture.waitingSignals.map(({ given, takenAt }) => {
      const { name, id: signalId, at, by, value } = given
      return { name, id: signalId, at, by, value, takenAt }
    })
  }

  async #chartAt(id: RunId, entry: number | undefined): Promise<ChartAt> {
    const record = await this.#begun(id)
    const wanted = Math.min(entry ?? record.entries - 1, record.entries - 1)
    const moment = await this.#momentOf(record, wanted)
    if (moment !== undefined) return moment
    const picture = await this.#picture(record, wanted)
    const shown = picture.at(Math.min(wanted, picture.entries - 1))
    if (shown === undefined) throw blockError('run.not_found', { runId: id })
    return shown
  }

  /** The picture of a run, with its entries up to the one that is wanted. */
  async #picture(record: RunRecord, wanted: number): Promise<RunPicture> {
    const picture = await this.#pictureOf(record, wanted)
    try {
      await this.#foldCompared(picture, record, wanted)
    } catch (error) {
      // It may have half of an entry, or what is not signed.
      this.#pictures.delete(record.runId)
      throw error
    }
    this.#forgetOldest()
    return picture
  }

  /** What long runs have kept, where no fold has come so far (Q4). */
  async #momentOf(record: RunRecord, wanted: number): Promise<ChartAt | undefined> {
    const { entries = 0, first = 0 } = this.#pictures.get(record.runId) ?? {}
    return first <= wanted && wanted < entries ? undefined : this.#kept.at(record, wanted)
  }

  /** The picture that is kept, where it has not let go of the entry that is wanted. */
  async #pictureOf(record: RunRecord, wanted: number): Promise<RunPicture> {
    const { runId } = record
    const known = this.#pictures.get(runId)
    const isKept = known !== undefined && known.first <= wanted
    const started = record.started as unknown as RunStarted
    const picture = isKept ? known : await this.#newPicture(runId, started)
    this.#pictures.delete(runId)
    this.#pictures.set(runId, picture)
    return picture
  }

  #forgetOldest(): void {
    let entries = 0
    for (const { kept } of this.#pictures.values()) entries += kept
    for (const [id, { kept }] of this.#pictures) {
      const isFull = this.#pictures.size > limits.PICTURES_MAX
      if (!isFull && entries <= limits.PICTURE_ENTRIES_MAX) return
      this.#pictures.delete(id)
      entries -= kept
    }
  }

  async #newPicture(runId: RunId, started: RunStarted): Promise<RunPicture> {
    const { ledger } = this.#parts
    const registry = this.#parts.registry ?? (await registryOf(started, ledger.identity))
    // Nothing continues here: what only a later step would need may be missing.
    const recorded = readyRun(runId, await recordedRun(registry.documents, started))
    const { root, compiled, block } = recorded
    const library = compiled.kind === 'leaf' ? compiled.library : compiled.plan
    const { identity } = ledger
    // What only an attempt would run is not needed: none runs here.
    const known = new Map<string, Block>()
    const found = (name: string) => {
      const one = known.get(name) ?? block(name) ?? neverRun(name)
      known.set(name, one)
      return one
    }
    return new RunPicture({ runId, identity, root, compiled, library, block: found })
  }

  /** The record of a run that began as it says. */
  async #begun(id: RunId): Promise<RunRecord> {
    const { ledger, compared } = this.#parts
    const record = this.#record(id)
    if (!compared.isCompared(record, 0)) await checkStarted(ledger, record)
    return record
  }

  #record(id: RunId): RunRecord {
    const record = this.#parts.ledger.run(id, { durable: true })
    if (record === undefined) throw blockError('run.not_found', { runId: id })
    return record
  }

  /** Folds entries up to the one that is wanted; the others are read past. */
  async #fold(
    picture: RunPicture,
    parts: AsyncIterable<readonly JournalEntry[]>,
    wanted: number
  ): Promise<void> {
    let count = 0
    for await (const part of parts) {
      for (const { n, text, value, receiptHash } of part) {
        if (n > wanted) return
        // What it has already, it is given again by a comparison.
        if (n < picture.entries) continue
        // The journal gives back what the runtime has written.
        picture.take({ entry: value as unknown as PictureEntry['entry'], text, receiptHash })
        count += 1
        if (count % ENTRIES_IN_TURN === 0) await nextTurn()
      }
    }
  }

  /** In one pass over the journal: nothing of the picture is shown unless the comparison holds. */
  async #foldCompared(picture: RunPicture, record: RunRecord, wanted: number): Promise<void> {
    const { compared } = this.#parts
    const wasCompared = compared.isCompared(record, wanted)
    if (wasCompared && picture.entries > wanted) return
    const asked = { from: picture.entries, through: wanted }
    const parts = compared.journal(record, asked)[Symbol.asyncIterator]()
    if (wasCompared) return this.#fold(picture, parts, wanted)
    const left = { [Symbol.asyncIterator]: () => ({ next: () => parts.next() }) }
    let fault: unknown
    try {
      await this.#fold(picture, left, wanted)
    } catch (error) {
      fault = error
    }
    for await (const _ of left);
    // What no fold takes may be forged: then that is what is said.
    if (fault !== undefined) throw fault
  }

  /** Where names led when the run began, as far as that is registered here. */
  #names({ pins }: RunStarted): GraphNames {
    const { registry } = this.#parts
    const pinned = (kind: 'blocks' | 'composites', reference: string) => {
      const { name, version = pins?.[kind]?.[name] } = versionedName(reference)
      return referenceTo(name, version)
    }
    return {
      composite: (reference) =>
        registry?.code.resolve('composites', pinned('composites', reference))?.value,
      sideEffects: (reference) =>
        registry?.code.resolve('blocks', pinned('blocks', reference))?.value.sideEffects ?? null
    }
  }
}

/** Entries that are folded before the loop turns (D9). */
const ENTRIES_IN_TURN = 256
