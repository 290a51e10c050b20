import type { Block, RunStarted } from '../../block/index.js'
import {
  limits,
  nextTurn,
  type RunId,
  referenceTo,
  TallyError,
  versionedName
} from '../../core/index.js'
import type { Ledger, RunRecord } from '../../ledger/index.js'
import { readyRun, recordedRun } from '../code/recorded-run.js'
import type { Registry } from '../code/registry.js'
import { endingUnit } from '../run/run-records.js'
import { checkView } from '../run/shown.js'
import { type GraphNames, graphOf } from './document-graph.js'
import { neverRun, registryOf } from './journal-registry.js'
import type { ChartAt, RunChart } from './query-types.js'
import { type PictureEntry, RunPicture } from './run-picture.js'

export interface ChartParts {
  readonly ledger: Pick<Ledger, 'run' | 'unit' | 'journal' | 'authenticate' | 'hasKey' | 'identity'>
  /** What is registered; without it a run's charts are made of what its journal says. */
  readonly registry: Registry | undefined
  isLive(id: RunId): boolean
}

/**
 * Runs as pictures: the graph of a run's document, and where its charts stood after any entry.
 *
 * Owns: the picture of the run that was asked for last. Does not own: the journal.
 *
 * - Q1 One picture is kept, of `PICTURE_ENTRIES_MAX` entries at most; asking for an entry before
 *   those folds the journal anew.
 * - Q3 The journal is compared with what authenticates it before it is folded, once for as many
 *   entries as it has; one that moves in this process was, by its pump.
 */
export class RunCharts {
  readonly #parts: ChartParts
  #last: { readonly id: RunId; readonly picture: RunPicture } | undefined
  /** Runs whose entries, so many, were compared with what is signed, the last asked for last. */
  readonly #compared = new Map<RunId, number>()
  #turn: Promise<unknown> = Promise.resolve()

  constructor(parts: ChartParts) {
    this.#parts = parts
  }

  /** Throws `run.not_found`, and the codes of what is not as signed. */
  async chart(id: RunId): Promise<RunChart> {
    const record = this.#record(id)
    await this.#compare(record)
    const started = record.started as unknown as RunStarted
    const { definitionHash } = started
    return { id, definitionHash, graph: graphOf(started, this.#names(started)) }
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

  async #chartAt(id: RunId, entry: number | undefined): Promise<ChartAt> {
    const record = this.#record(id)
    await this.#compare(record)
    const wanted = Math.min(entry ?? record.entries, record.entries - 1)
    const picture = await this.#pictureOf(record, wanted)
    let count = 0
    const from = picture.entries
    for await (const { text, value, receiptHash } of this.#parts.ledger.journal(id, from)) {
      if (picture.entries > wanted) break
      // The journal gives back what the runtime has written.
      picture.take({ entry: value as unknown as PictureEntry['entry'], text, receiptHash })
      count += 1
      if (count % ENTRIES_IN_TURN === 0) await nextTurn()
    }
    const shown = picture.at(Math.min(wanted, picture.entries - 1))
    if (shown === undefined) throw new TallyError('run.not_found', { runId: id })
    return shown
  }

  /** The picture that is kept, where it has not let go of the entry that is wanted. */
  async #pictureOf(record: RunRecord, wanted: number): Promise<RunPicture> {
    const last = this.#last
    if (last?.id === record.runId && last.picture.first <= wanted) return last.picture
    const started = record.started as unknown as RunStarted
    const picture = await this.#newPicture(record.runId, started)
    this.#last = { id: record.runId, picture }
    return picture
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

  #record(id: RunId): RunRecord {
    const record = this.#parts.ledger.run(id, { durable: true })
    if (record === undefined) throw new TallyError('run.not_found', { runId: id })
    return record
  }

  async #compare(record: RunRecord): Promise<void> {
    const { runId, entries } = record
    const { ledger } = this.#parts
    if (this.#parts.isLive(runId) || this.#compared.get(runId) === entries) return
    await checkView(ledger, record, await ledger.unit(endingUnit(record)))
    this.#compared.delete(runId)
    this.#compared.set(runId, entries)
    const [oldest = runId] = this.#compared.keys()
    if (this.#compared.size > limits.CACHE_ENTRIES_MAX) this.#compared.delete(oldest)
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
