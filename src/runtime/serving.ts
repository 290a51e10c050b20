import type { Ledger, OwnerHandler } from '../ledger/index.js'
import type { RuntimeAudit } from './audit/verifying.js'
import type { Registry } from './code/registry.js'
import type { Intents } from './intent/intents.js'
import { MEMORY_LOCATION } from './open.js'
import type { OpeningCause } from './opening/opening-remedies.js'
import type { ExceptionLog } from './run/exception-log.js'
import type { Runs } from './run/runs.js'
import type { Runtime } from './runtime-api.js'
import type { ScheduleKeeper } from './schedule/schedule-keeper.js'
import { redactedService } from './service/redacted-service.js'
import { serve } from './service/service.js'

/** The runtime that is asked. */
type Served = Pick<Runtime, 'archive' | 'export' | 'install' | 'lint' | 'planText' | 'recheck'> & {
  readonly audit: RuntimeAudit
  readonly intents: Intents
  readonly ledger: Ledger
  readonly registry: Registry
  readonly runsOf: Runs
  readonly schedules: ScheduleKeeper
}

/** What callers may ask of a runtime, in its process and behind its socket, without secrets. */
export function servingOf(
  runtime: Served,
  opening: {
    readonly realPath: string | undefined
    warned(): readonly string[]
    causes(): readonly OpeningCause[]
    readonly exceptions: Pick<ExceptionLog, 'lines'>
  }
): OwnerHandler {
  const { audit, ledger, registry, runsOf: runs } = runtime
  const service = serve({
    ledger,
    location: opening.realPath ?? MEMORY_LOCATION,
    warnings: async () => [...opening.warned(), ...(await runs.withoutCode.warnings())],
    causes: () => opening.causes(),
    thrown: () => opening.exceptions.lines,
    problemOf: (schedule) => runtime.schedules.problemOf(schedule),
    running: { runs, registry },
    asking: {
      intent: (request, principal) => runtime.intents.submit(request, principal, 'in turns'),
      planText: (text, given) => runtime.planText(text, given),
      install: (packed) => runtime.install(packed)
    },
    verify: ({ replay: reexecute, ...asked }) => audit.verifySteadily({ ...asked, reexecute }),
    replay: (which) => audit.replayReceipt(which),
    recording: (run) => audit.recording(run),
    lint: (document) => runtime.lint(document),
    recheck: (id, given) => runtime.recheck(id, given),
    exports: (given) => runtime.export(given),
    archive: (given) => runtime.archive(given)
  })
  return redactedService(service, registry.redactor)
}
