import { expect, it } from 'vitest'
import { filesBelow, lineAt, readSource } from './support/source.js'

/** Entries of journals are built in one place and interpreted by one reducer. */

const files = filesBelow('src', ['.ts']).map(readSource)

/** Places of a pattern, as the file and the line. */
function placesOf(pattern: RegExp): readonly { readonly path: string; readonly line: number }[] {
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map(({ index }) => ({ path, line: lineAt(text, index) }))
  )
}

const isReducer = ({ path }: { readonly path: string }) => path.startsWith('src/block/run/')

/** Files beside the reducer that branch on the kind of an entry, and what for. */
const exceptions: Readonly<Record<string, string>> = {
  'src/block/run/apply.ts': 'the reducer',
  'src/block/run/events.ts': 'the event that callers get for an entry',
  'src/block/run/sent-effects.ts': 'what a run has sent, whose code is gone: no chart has asked',
  'src/block/replay/entry-checks.ts': 'a check that does not trust the reducer',
  'src/block/replay/run-replay.ts': 'which record has to stand beside an entry',
  'src/block/replay/unit-work.ts': 'how the unit of an entry is done again',
  'src/block/pump/journal-writer.ts': 'what the records of runs have of an entry',
  'src/telemetry/run-spans.ts': 'what a trace has of an entry, which decides nothing',
  'src/testing/machine/step-coverage.ts': 'what a coverage of steps counts, which decides nothing',
  'src/console/page/pure/lanes.ts': 'how an entry is drawn',
  'src/console/page/pure/run-steps.ts': 'steps as they are drawn, compared with the charts'
}

it('D10: entries are built by the drafts of src/block/run alone', () => {
  const literals = placesOf(/[{,(]\s*k: '[a-z.]+'/g)
  expect(literals.filter(isReducer)).not.toEqual([])
  expect(literals.filter((place) => !isReducer(place))).toEqual([])
})

it('D10: only the reducer and the named files branch on the kind of an entry', () => {
  const switches = placesOf(/\bswitch \((?:\w+\.)*k\)/g)
  expect([...new Set(switches.map(({ path }) => path))].sort()).toEqual(
    Object.keys(exceptions).sort()
  )
})
