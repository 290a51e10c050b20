import { ActorPool, type Provider, Turns, UnitGate } from '../block/index.js'
import { CHILD_EFFECT } from '../code/index.js'
import type { Json } from '../core/index.js'
import type { Ledger } from '../ledger/index.js'
import { type RateTimes, WorkQueues } from '../queue/index.js'
import type { Registry } from './code/registry.js'
import { PrincipalGate } from './gate/principal-gate.js'
import { entriesWith } from './run/earlier-answers.js'
import type { ExceptionLog } from './run/exception-log.js'
import type { RunsHost } from './run/run-terms.js'
import type { WiredOptions } from './runtime-api.js'

/** What every run of a ledger is handed. */

export function hostOf(
  ledger: Ledger,
  registry: Registry,
  options: Pick<WiredOptions, 'clock' | 'durability' | 'telemetry'> & {
    readonly profile: Json
    readonly outside: WiredOptions['outside'] | undefined
    /** Starts what workflows in code wait for. */
    readonly children: Provider
    readonly exceptions: ExceptionLog
    readonly rates: RateTimes
  }
): RunsHost {
  const { clock, durability, profile, outside, telemetry, exceptions, children, rates } = options
  if (telemetry !== undefined) {
    ledger.onCommit(({ written }) => {
      if (written !== undefined) telemetry.committed({ ...written, at: clock.now() })
    })
  }
  registry.rooms.useJournals((runId, text) => entriesWith([text], ledger, runId))
  return {
    journal: ledger,
    clock,
    turns: new Turns(),
    actors: new ActorPool(),
    gate: new UnitGate(clock),
    queues: new WorkQueues(clock, registry.queues, rates),
    redactor: registry.redactor,
    identity: ledger.identity,
    profile,
    durability,
    telemetry,
    ...(outside === undefined ? {} : { outside }),
    block: (name) => registry.bound(name),
    provider: (name) => (name === CHILD_EFFECT ? children : registry.provider(name)),
    threw: (run, at, thrown) => {
      // Its text may have what the run is given, and nothing removes it from that file.
      if (ledger.subjects.of(run) === undefined) exceptions.keep({ ...thrown, run, at })
    },
    refusesEffect: new PrincipalGate(ledger, registry).refusesEffect
  }
}
