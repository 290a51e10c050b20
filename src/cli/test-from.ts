import { existsSync } from 'node:fs'
import { basename, dirname, extname, relative, resolve, sep } from 'node:path'
import { cliError, type RunId, shownText } from '../core/index.js'
import { findConfig } from './frame/config.js'
import { writeOutput } from './frame/files.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { atHolder, once } from './frame/holder.js'
import { givenPassphrase } from './frame/passphrase.js'
import { configOf } from './frame/session.js'
import { text } from './frame/text.js'

/**
 * `tally test from RUN`: writes a test that does a run again with the code at hand, and its
 * recording beside it. A run that does not come out the same today gets none.
 */
export async function testFrom(
  frame: Frame,
  run: string,
  options: {
    readonly out?: string
    readonly force?: boolean
    readonly private?: boolean
    readonly config?: string
  }
): Promise<ExitCode> {
  const { output, directory, identity } = frame
  const { recordRunHere, recordRunOf, replayRecordingWith } = await import('../runtime/index.js')
  const runId = run as RunId
  const passphrase = givenPassphrase(frame)
  const recording = await atHolder(frame, {
    owner: (owner) => once(owner, (one) => recordRunOf(one, runId)),
    here: (place) => recordRunHere(place, runId, { identity, passphrase })
  })
  const found = await findConfig(frame, options.config)
  const { durability: _, closedPaths: __, ...code } = await configOf(frame, options.config)
  const { replay, narrowed, privacy } = await replayRecordingWith(recording, code, directory)
  const { problem } = privacy
  const refuse = () => {
    if (options.private !== true && problem !== undefined) {
      throw cliError('cli.private_run', { run, problem })
    }
  }
  // Before anything of the run is shown.
  if (privacy.declared.length > 0) refuse()
  const { outcome, difference, notChecked } = replay
  if (outcome !== 'same') {
    output.document('test', { ...replay, file: null, recording: null })
    output.line(text`${output.paint('red', 'no test')} ${run}: ${outcome}, and it would not pass`)
    if (difference !== undefined) {
      const { field, place, expected, found: given } = difference
      output.line(text`at ${place?.path ?? 'the run'}: ${field}`)
      output.line(text`  expected ${expected}`)
      output.line(text`  found    ${given}`)
    }
    for (const one of notChecked) output.line(text`not checked ${one}`)
    return exitCodes.failed
  }
  refuse()
  const { recordingText } = await import('../audit/index.js')
  const { file, fixture } = placesOf(frame, run, options)
  const isPrivate = problem !== undefined
  const program = programOf(run, { fixture, config: found.path, file, isPrivate })
  const isNew = options.force !== true
  await writeOutput(frame, fixture, { content: await recordingText(narrowed), isNew })
  await writeOutput(frame, file, { content: program, isNew })
  output.document('test', { ...replay, file, recording: fixture })
  output.line(text`${output.paint('green', 'wrote')} ${file}`)
  output.line(text`${output.paint('green', 'wrote')} ${fixture}`)
  output.log(text`it holds in clear what the ledger has in clear`)
  for (const one of notChecked) output.line(text`not checked ${one}`)
  return exitCodes.done
}

/** Where the two files go. Throws `cli.usage` where they cannot, or are there already. */
function placesOf(
  { cwd }: Frame,
  run: string,
  { out, force }: { readonly out?: string; readonly force?: boolean }
): { readonly file: string; readonly fixture: string } {
  const file = resolve(cwd, out ?? `${run.replaceAll(/[^\w.-]/g, '_')}.test.mjs`)
  const extension = extname(file)
  if (!modules.includes(extension)) {
    const problem = `--out names no module: ${basename(file)} ends in none of ${modules.join(', ')}`
    throw cliError('cli.usage', { problem })
  }
  const fixture = resolve(dirname(file), `${basename(file, extension)}.json`)
  // Neither is written where the other cannot be.
  const there = [file, fixture].find((path) => force !== true && existsSync(path))
  if (there === undefined) return { file, fixture }
  const problem = `${there} is there already; --force writes over it and its recording`
  throw cliError('cli.usage', { problem })
}

const modules = ['.mjs', '.js', '.mts', '.ts']

// Named apart from the program's text: this package imports neither.
const runners = { vitest: 'vitest', node: 'node:test' } as const

/** A program for node:test, Vitest and Jest. */
function programOf(
  run: string,
  given: {
    readonly fixture: string
    readonly config: string | undefined
    readonly file: string
    readonly isPrivate: boolean
  }
): string {
  const { fixture, config, file, isPrivate } = given
  const beside = basename(fixture)
  const secrets = isPrivate ? ', and what is declared private' : ''
  const way = config && relative(dirname(file), config).split(sep).join('/')
  const path = way?.startsWith('.') === true ? way : `./${way}`
  const code = way === undefined ? '{}' : `await openConfig(${atFile(path)})`
  const imports = way === undefined ? 'openRecording' : 'openConfig, openRecording'
  const title = JSON.stringify(`run ${shownText(run)} comes out as it did`)
  return `// Does a run of a ledger again with the code at hand; nothing is performed.
// ${shownText(beside)} has in clear its inputs, responses, answers and state${secrets}.
import assert from 'node:assert/strict'
import { ${imports} } from 'tallystick/testing'

const { test } = process.env.VITEST
  ? await import(${JSON.stringify(runners.vitest)})
  : globalThis.test
    ? globalThis
    : await import(${JSON.stringify(runners.node)})

test(${title}, async () => {
  const run = await openRecording(${atFile(`./${beside}`)})
  const report = await run.replay(${code})
  assert.equal(report.outcome, 'same', report.text)
})
`
}

function atFile(path: string): string {
  return `new URL(${JSON.stringify(encodeURI(path))}, import.meta.url)`
}
