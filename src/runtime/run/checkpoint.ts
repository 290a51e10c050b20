import type { RunCheckpoint } from '../../block/index.js'
import {
  canonicalizeOwn,
  type Hash,
  isJsonObject,
  type Json,
  type RunId,
  sha256Hex
} from '../../core/index.js'
import type { SavedCheckpoint } from '../../ledger/index.js'
import type { CompiledRoot } from '../code/prepared-run.js'
import type { SavedMoments } from './run-moments.js'

/**
 * A run checkpoint in its envelope (formats.md §7):
 * `{envelope: {chart: {id, version, configHash}, definitionHash, format, journalSeq, moments?,
 * runId, run, startedHash, stateRoot}, mac}`, the code made with the blob key.
 * Derived data: when it does not fit the running code, the run is rebuilt from its journal instead.
 */
export function encodeCheckpoint(
  run: RunCheckpoint,
  options: {
    readonly runId: RunId
    readonly compiled: CompiledRoot
    readonly stateRoot: string
    /** SHA-256 of the run's first journal entry. */
    readonly startedHash: Hash
    readonly authenticate: Authenticate
    readonly moments: SavedMoments | undefined
  }
): SavedCheckpoint {
  const { compiled, runId, stateRoot, startedHash, authenticate, moments } = options
  const envelope = canonicalizeOwn({
    chart: chartOf(compiled),
    definitionHash: compiled.definitionHash,
    format: FORMAT,
    journalSeq: run.entries,
    runId,
    run,
    ...(moments === undefined ? {} : { moments }),
    startedHash,
    stateRoot
  })
  const text = `{"envelope":${envelope},"mac":"${authenticate(sha256Hex(envelope))}"}`
  return { text, entries: run.entries }
}

/** The run of a checkpoint, if the envelope fits this code and was written by this ledger. */
export function parseCheckpoint(
  saved: SavedCheckpoint | undefined,
  options: {
    readonly runId: RunId
    readonly compiled: CompiledRoot
    readonly startedHash: Hash
    readonly authenticate: Authenticate
  }
): KeptRun | undefined {
  if (saved === undefined) return undefined
  const { envelope, mac } = JSON.parse(saved.text) as {
    readonly envelope: Json
    readonly mac: Json
  }
  if (!isJsonObject(envelope)) return undefined
  const isOurs =
    mac === options.authenticate(sha256Hex(canonicalizeOwn(envelope))) &&
    envelope['format'] === FORMAT &&
    envelope['runId'] === options.runId &&
    envelope['startedHash'] === options.startedHash &&
    envelope['definitionHash'] === options.compiled.definitionHash &&
    canonicalizeOwn(envelope['chart']) === canonicalizeOwn(chartOf(options.compiled))
  if (!isOurs) return undefined
  // What this room wrote, by its code.
  const { run, moments } = envelope as unknown as KeptRun
  return { run, moments }
}

/** What a checkpoint has. */
export interface KeptRun {
  readonly run: RunCheckpoint
  /** Undefined: nothing follows the run from there on. */
  readonly moments: SavedMoments | undefined
}

/** Of what is in `run`: one up whenever a context gets other members. */
const FORMAT = 4

type Authenticate = (hash: Hash) => Hash

function chartOf({ config, configHash }: CompiledRoot): object {
  return { id: config.id ?? '', version: config.version ?? '', configHash }
}
