import { watchBlocks } from '../code/index.js'
import { systemClock, systemRandom } from '../core/index.js'
import { KERNEL_VERSION } from '../intent/index.js'
import { Registry } from './code/registry.js'
import { type OpenedLedger, openForRuntime } from './open.js'
import { WiredRuntime } from './runtime.js'
import type { RuntimeOptions, WiredOptions } from './runtime-api.js'
import { noteSessions } from './session-notes.js'

/** What `createRuntime` does once it is loaded. */
export async function openRuntime(options: RuntimeOptions): Promise<WiredRuntime> {
  watchInDevelopment()
  const random = options.random ?? systemRandom
  const telemetry = await options.telemetry?.open({ version: KERNEL_VERSION })
  const registry = await Registry.open(options)
  const opened = await openForRuntime(options, { random })
  return startRuntime({ ...options, telemetry, random }, { opened, registry })
}

/** What an opened ledger is run with. */
export type StartingOptions = Omit<RuntimeOptions, 'telemetry' | 'location'> &
  Pick<WiredOptions, 'telemetry' | 'sandbox'>

/** Runs what is registered on an opened ledger, which is closed where that rejects. */
export async function startRuntime(
  options: StartingOptions,
  parts: { readonly opened: OpenedLedger; readonly registry: Registry }
): Promise<WiredRuntime> {
  const { opened, registry } = parts
  const { clock = systemClock, random = systemRandom, telemetry, sandbox } = options
  const own = opened.realPath === undefined ? [] : [opened.realPath]
  registry.rooms.keepClosed([...own, ...(options.closedPaths ?? [])])
  const runtime = new WiredRuntime(opened, registry, {
    clock,
    random,
    durability: options.durability ?? 'output',
    ...(telemetry === undefined ? {} : { telemetry }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(options.network === undefined ? {} : { network: options.network }),
    ...(options.mode === undefined ? {} : { mode: options.mode }),
    ...(options.onQuarantine === undefined ? {} : { onQuarantine: options.onQuarantine })
  })
  try {
    await begin(runtime, options, parts)
    // Its methods cannot be replaced (K10).
    Object.freeze(runtime)
    return runtime
  } catch (error) {
    await runtime.close()
    throw error
  }
}

async function begin(
  runtime: WiredRuntime,
  options: StartingOptions,
  { opened, registry }: { readonly opened: OpenedLedger; readonly registry: Registry }
): Promise<void> {
  const { clock = systemClock, random = systemRandom, mode } = options
  await runtime.checkIntegrity()
  if (mode !== 'replay') await runtime.archives.resume()
  if (mode !== 'replay') await runtime.erasing.resume()
  await runtime.loadPackages(options.packages ?? [])
  if (mode !== 'replay') await noteSessions({ opened, registry })
  if (options.serve !== false) await listen(runtime, options.handOver)
  if (options.inspect !== undefined) runtime.inspect(options.inspect)
  if (options.onEvent !== undefined) runtime.events.on('event', options.onEvent)
  const takesWork = mode !== 'replay' && runtime.takesWork
  const goesOn = options.resume !== false && takesWork
  if (goesOn) await runtime.schedules.prepare()
  if (goesOn) await runtime.resumeAll()
  if (mode !== 'replay') runtime.runsOf.withoutCode.look()
  runtime.quarantine.opened()
  if (goesOn) await runtime.schedules.begin(options.schedules ?? [])
  if (options.archive !== undefined && takesWork) {
    await runtime.archives.keep(options.archive, clock, () => random.uuid())
  }
}

/** Answers on the owner socket, and hands the ledger over where the program wants that. */
async function listen(runtime: WiredRuntime, given: RuntimeOptions['handOver']): Promise<void> {
  if (given === undefined) return runtime.listen()
  const { handingOver } = await import('./opening/hand-over.js')
  runtime.listen(handingOver(runtime.service, runtime, given === true ? {} : given))
}

/**
 * In development (`NODE_ENV=development`, which `tally dev` sets where nothing is set) blocks that
 * touch clock, chance or the network past `ctx` are warned of at once, with the line (K8).
 * Elsewhere nothing is wrapped and nothing is followed: many a service in production sets no
 * `NODE_ENV` at all, so that its absence is no development.
 */
export function watchInDevelopment(environment: NodeJS.ProcessEnv = process.env): void {
  if (environment['NODE_ENV'] !== 'development') return
  // For as long as the process lives: another runtime of it is in development, too.
  watchBlocks(({ api, line }) => {
    process.emitWarning(
      `A block reads ${api} past ctx: it comes out otherwise when it is done again. ${line}`,
      { type: 'DeterminismWarning', code: 'TALLY_DETERMINISM', detail: fix }
    )
  })
}

const fix =
  'Use ctx.now(), ctx.random(), ctx.uuid() and ctx.sleep(), and ctx.effect for all that is outside.'
