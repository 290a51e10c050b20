import { basename, dirname, extname, relative, resolve, sep } from 'node:path'
import { type RunId, shownText, TallyError } from '../core/index.js'
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
  options: { readonly out?: string; readonly private?: boolean; readonly config?: string }
): Promise<ExitCode> {
  const { output, cwd, directory, identity } = frame
  const { recordRunHere, recordRunOf, replayRecordingWith } = await import('../runtime/index.js')
  const runId = run as RunId
  const passphrase = givenPassphrase(frame)
  const recording = await atHolder(frame, {
    owner: (owner) => once(owner, (one) => recordRunOf(one, runId)),
    here: (place) => recordRunHere(place, runId, { identity, passphrase })
  })
  const isPrivate = recording.entries.some(({ receipt }) => receipt?.isPrivate === true)
  if (isPrivate && options.private !== true) throw new TallyError('cli.private_run', { run })
  const found = await findConfig(frame, options.config)
  const { durability: _, closedPaths: __, ...code } = await configOf(frame, options.config)
  const { replay, narrowed } = await replayRecordingWith(recording, code, directory)
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
  const file = resolve(cwd, options.out ?? `${run.replaceAll(/[^\w.-]/g, '_')}.test.mjs`)
  const beside = `${basename(file, extname(file))}.json`
  const { recordingText } = await import('../audit/index.js')
  const fixture = resolve(dirname(file), beside)
  const content = programOf(run, { beside, config: found.path, file, isPrivate })
  await writeOutput(frame, fixture, { content: await recordingText(narrowed), isNew: true })
  await writeOutput(frame, file, { content, isNew: true })
  output.document('test', { ...replay, file, recording: fixture })
  output.line(text`${output.paint('green', 'wrote')} ${file}`)
  output.line(text`${output.paint('green', 'wrote')} ${fixture}`)
  output.log(text`it holds in clear what the ledger has in clear`)
  for (const one of notChecked) output.line(text`not checked ${one}`)
  return exitCodes.done
}

// Named apart from the program's text: this package imports neither.
const runners = { vitest: 'vitest', node: 'node:test' } as const

/** A program for node:test, Vitest and Jest. */
function programOf(
  run: string,
  given: {
    readonly beside: string
    readonly config: string | undefined
    readonly file: string
    readonly isPrivate: boolean
  }
): string {
  const { beside, config, file, isPrivate } = given
  const secrets = isPrivate ? ', and what blocks have declared private' : ''
  const way = config && relative(dirname(file), config).split(sep).join('/')
  const path = way?.startsWith('.') === true ? way : `./${way}`
  const code = way === undefined ? '{}' : `await openConfig(${atFile(path)})`
  const imports = way === undefined ? 'openRecording' : 'openConfig, openRecording'
  const title = JSON.stringify(`run ${shownText(run)} comes out as it did`)
  return `// Does a run of a ledger again with the code at hand; nothing is performed.
// ${beside} has in clear its inputs, responses, answers and state${secrets}.
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
