import { fork } from 'node:child_process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { anyError, type ErrorCode, testingError } from '../../core/index.js'
import { collectorOptions } from '../collector.js'
import type { CodePlace, MachineOptions } from './options.js'
import type { TallyLeft } from './tally.js'

const program = fileURLToPath(new URL('./share.js', import.meta.url))

const PROCESSES_MAX = 16

/** What one process is to play. */
export interface ShareJob extends CodePlace, Pick<MachineOptions, 'from' | 'save'> {
  readonly cases: number
  readonly seed: number
}

/** What has become of a share: a tally, an error of this library, or another one as text. */
export type ShareEnd =
  | { readonly left: TallyLeft }
  | { readonly code: string; readonly context: object }
  | { readonly problem: string }

/**
 * Plays the cases of a search in several processes, each with a seed of its own. A clock, chance
 * and time zone that are varied are those of a whole process: threads would share them. Rejects
 * with what the first of them in order has found, so that the verdict is the same each time.
 */
export async function playShares(
  { from, save }: Pick<MachineOptions, 'from' | 'save'>,
  { cases, seed, processes }: { cases: number; seed: number; processes: number }
): Promise<readonly TallyLeft[]> {
  if (from === undefined) throw testingError('testing.module_missing', {})
  const isUrl = from.module.startsWith('file:')
  const module = isUrl ? from.module : pathToFileURL(from.module).href
  const count = Math.min(processes, cases, PROCESSES_MAX)
  const common = { ...from, from, module, ...(save === undefined ? {} : { save }) }
  const shares = Array.from({ length: count }, (_, index): ShareJob => {
    const share = Math.floor(cases / count) + (index < cases % count ? 1 : 0)
    return { ...common, cases: share, seed: seed + index }
  })
  const ends = await Promise.all(shares.map(played))
  return ends.map((end) => {
    if ('left' in end) return end.left
    if ('problem' in end) throw testingError('testing.share_ended', { problem: end.problem })
    // It was thrown by this library in the other process.
    throw anyError(end.code as ErrorCode, end.context as never)
  })
}

function played(job: ShareJob): Promise<ShareEnd> {
  return new Promise((resolve) => {
    const child = fork(program, { execArgv: [...process.execArgv, ...collectorOptions] })
    child.once('message', (end) => resolve(end as ShareEnd))
    child.once('error', ({ message }) => resolve({ problem: message }))
    child.once('exit', (code, signal) => resolve({ problem: `it ended with ${signal ?? code}` }))
    child.send(job)
  })
}
