import { cliError } from '../core/index.js'
import type { HealthCheck } from '../runtime/index.js'
import { findConfig } from './frame/config.js'
import { writerProblem } from './frame/config-owner.js'
import { DEFAULT_DIRECTORY, type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { table } from './frame/render.js'
import { text } from './frame/text.js'
import { type Check, checkHealth, shownCheck } from './health.js'

/** Which of several places a setting is taken from, the first one that has it. */
const precedence = [
  ['ledger', '--dir', DEFAULT_DIRECTORY],
  ['configuration', '--config', "tally.config.{ts,js,mjs,json} of the working directory's package"],
  ['passphrase', 'TALLY_PASSPHRASE', 'asked for on a terminal'],
  ['colour', 'NO_COLOR, TERM=dumb', 'on when the output is a terminal'],
  ['socket', 'XDG_RUNTIME_DIR', 'the temporary directory']
] as const

/** `tally doctor`: whether everything is in place, and where settings come from. */
export async function doctor(
  frame: Frame,
  options: { readonly config?: string }
): Promise<ExitCode> {
  const { output } = frame
  const { healthChecks } = await import('../runtime/index.js')
  const { checkDisk, checkNode, checkPlace } = await healthChecks()
  const health = () => checkHealth(frame, options.config)
  const shown = (check: HealthCheck) => shownCheck(frame, check)
  const checks = [
    shownCheck(frame, checkNode()),
    await checkConfig(frame, options.config),
    ...(await checkPlace(frame.directory, { health })).map(shown),
    shownCheck(frame, await checkDisk(frame.directory, frame.cwd)),
    checkPassphrase(frame)
  ]
  const isSound = checks.every(({ state }) => state !== 'problem')
  const settings = precedence.map(([setting, first, otherwise]) => ({ setting, first, otherwise }))
  output.document('doctor', { ok: isSound, checks, settings })
  const styles = { ok: 'green', warning: 'yellow', problem: 'red' } as const
  const rows = checks.map(({ name, state, found }) => [
    output.paint(styles[state], state),
    name,
    found
  ])
  for (const line of table(rows)) output.line(line)
  for (const { name, fix } of checks) if (fix !== undefined) output.line(text`fix ${name}: ${fix}`)
  output.line(text`settings, first match:`)
  for (const line of table(settings.map((one) => ['', one.setting, one.first, one.otherwise]))) {
    output.line(line)
  }
  return isSound ? exitCodes.done : exitCodes.failed
}

// Found, not loaded: it is code, and nothing here runs blocks.
async function checkConfig(frame: Frame, given: string | undefined): Promise<Check> {
  const config = await findConfig(frame, given)
  if (config.path === undefined) {
    const fix = 'Write a tally.config.ts beside package.json, or use --config.'
    return { name: 'config', state: 'warning', found: config.reason, fix }
  }
  const { path } = config
  try {
    const problem = await writerProblem(path)
    if (problem === undefined) return { name: 'config', state: 'ok', found: path }
    const { message: found, fix } = cliError('cli.unsafe_config', { path, problem })
    return { name: 'config', state: 'problem', found, fix }
  } catch {
    return { name: 'config', state: 'problem', found: `${path} is missing`, fix: 'Check it.' }
  }
}

function checkPassphrase(frame: Frame): Check {
  const isSet = frame.environment['TALLY_PASSPHRASE'] !== undefined
  const found = isSet ? 'TALLY_PASSPHRASE is set' : 'asked for when a sealed key is needed'
  return { name: 'passphrase', state: 'ok', found }
}
