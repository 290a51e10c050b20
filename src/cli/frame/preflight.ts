import { isTallyError, type Json, limits } from '../../core/index.js'
import type { AisPlan, DryCheck, DryLook } from '../../workflow/index.js'
import type { Frame } from './frame.js'
import { configOf } from './session.js'
import { type Text, text } from './text.js'

export interface LookOptions {
  /** The configuration whose chains are asked. */
  readonly config?: string
  readonly broadcast?: boolean
  readonly simulate?: boolean
  /** Lists what will be looked at, and asks nothing. */
  readonly offline?: boolean
}

/**
 * What a run would look at before its first write, and what is missing now, where chains are
 * configured. Nothing is signed or written.
 */
export async function looksBefore(
  frame: Frame,
  plan: AisPlan,
  given: Json,
  options: LookOptions
): Promise<readonly DryLook[]> {
  const { dryPreflight, givenOf, valuesFor } = await import('../../workflow/index.js')
  const { broadcast, simulate } = options
  const writes = broadcast === true ? 'broadcast' : simulate === true ? 'simulate' : 'ask'
  const providers = options.offline === true ? undefined : await providersOf(frame, options)
  return dryPreflight(plan, givenOf(given), {
    values: await valuesFor(plan),
    writes,
    withinMs: limits.DIAGNOSE_CHAIN_MS,
    ...(providers === undefined ? {} : { providers })
  })
}

async function providersOf(frame: Frame, { config }: LookOptions) {
  try {
    return (await configOf(frame, config)).providers
  } catch (error) {
    if (config !== undefined || !isTallyError(error)) throw error
    frame.output.log(text`no chain is asked: ${error.message}`)
    return undefined
  }
}

/** A look as lines: where it stands, what it looks at on each chain, what is missing. */
export function lookLines(frame: Frame, { id, after, chains }: DryLook): readonly Text[] {
  const { paint } = frame.output
  const when = after.length === 0 ? 'before everything' : `after ${after.join(', ')}`
  return [
    text`${paint('bold', id)} looks ${when}`,
    ...chains.flatMap((one) => chainLines(frame, one))
  ]
}

function chainLines(
  { output }: Frame,
  { chain, executions, contracts, missing, unchecked }: DryCheck
): readonly Text[] {
  const places = contracts.length === 0 ? '' : `, code at ${contracts.join(', ')}`
  return [
    text`  ${chain}: ${Object.keys(executions).join(', ')}${places}`,
    ...(missing ?? []).map(({ about, code, message, nodes }) => {
      const what = text`${about} ${code}: ${message}`
      return text`    ${output.paint('red', 'missing')} ${what} (${nodes.join(', ')})`
    }),
    ...(unchecked.length === 0 ? [] : [text`    not checked: ${unchecked.join(', ')}`])
  ]
}
