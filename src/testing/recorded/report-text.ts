import type { RecordingDifference, RecordingReplay } from '../../audit/index.js'

/** What a replay gave, in lines. */
export function reportText({
  run,
  outcome,
  difference,
  executed,
  notChecked
}: RecordingReplay): string {
  const { receipts, failures, open } = executed
  const units = `${receipts} receipts, ${failures} failures and ${open} open attempts`
  const counts = `${units} executed again`
  const head =
    difference !== undefined
      ? `run ${run} comes out otherwise at ${placeText(difference)}`
      : outcome === 'same'
        ? `run ${run} comes out the same: ${counts}`
        : `run ${run} is not checked: ${counts}`
  const lines = difference === undefined ? [] : differenceLines(difference)
  return [head, ...lines, ...notChecked.map((why) => `  not checked: ${why}`)].join('\n')
}

function placeText({ entry, kind, place, code }: RecordingDifference): string {
  const at = entry === null ? 'what has not ended' : `entry ${entry} (${kind})`
  const of = place === null ? '' : ` of ${place.path}, step ${place.step}, attempt ${place.attempt}`
  return `${at}${of}${code.length === 0 ? '' : `: ${code.join(', ')}`}`
}

function differenceLines({ field, key, expected, found }: RecordingDifference): readonly string[] {
  return [
    `  field:    ${field}${key === undefined ? '' : ` (${key})`}`,
    `  expected: ${shortened(expected)}`,
    `  found:    ${shortened(found)}`
  ]
}

const SHOWN_LENGTH = 400

function shortened(text: string): string {
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}…`
}
