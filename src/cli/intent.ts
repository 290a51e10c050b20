import { cliError, isJsonObject } from '../core/index.js'
import { readContext, readJson } from './frame/files.js'
import type { ExitCode, Frame } from './frame/frame.js'
import { askIntent } from './frame/intent.js'
import { openSession } from './frame/session.js'

export interface IntentOptions {
  readonly id?: string
  readonly payload?: string
  readonly provider?: string
  readonly raw?: string
  readonly context?: string
  readonly trace?: string
  readonly subject?: string
  readonly config?: string
}

/** `tally intent ACTION`: has something done as one unit of work, with one receipt (K1). */
export async function intent(
  frame: Frame,
  action: string,
  options: IntentOptions
): Promise<ExitCode> {
  const payload = await readJson(frame, options.payload ?? '{}', '--payload')
  if (!isJsonObject(payload)) {
    throw cliError('cli.usage', { problem: '--payload is no object' })
  }
  const { id, provider, raw, trace, subject } = options
  const context = await readContext(frame, options.context)
  const session = await openSession(frame, 'run', { config: options.config })
  return askIntent(frame, session, {
    action,
    payload,
    ...context,
    ...(id === undefined ? {} : { id }),
    ...(trace === undefined ? {} : { trace }),
    ...(subject === undefined ? {} : { subject }),
    ...(provider === undefined ? {} : { provider }),
    ...(raw === undefined ? {} : { raw })
  })
}
