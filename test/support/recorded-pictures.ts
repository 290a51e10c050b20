import type { RunStarted } from '../../src/block/index.js'
import type { RunId } from '../../src/core/index.js'
import type { Registry } from '../../src/runtime/code/registry.js'
import { neverRun } from '../../src/runtime/queries/journal-registry.js'
import type { ChartAt } from '../../src/runtime/queries/picture-types.js'
import { RunPicture } from '../../src/runtime/queries/run-picture.js'
import type { RecordedLine } from './journal-scenes.js'
import { testKeys } from './lives.js'

/** How a recorded run stood after each of its entries; undefined: its code is not here. */
export async function picturesOf(
  lines: readonly RecordedLine[],
  registry: Registry,
  options: object = {}
): Promise<readonly (ChartAt | undefined)[] | undefined> {
  const started = JSON.parse(lines[0]?.text ?? '{}') as RunStarted
  const recorded = await registry.recorded(started)
  if (recorded.kind !== 'ready') return undefined
  const { root, compiled, block } = recorded
  const library = compiled.kind === 'leaf' ? compiled.library : compiled.plan
  const runId = started.run as RunId
  const { identity } = testKeys
  const found = (reference: string) => block(reference) ?? neverRun(reference)
  const parts = { runId, identity, root, compiled, library, block: found }
  const picture = new RunPicture({ ...parts, ...options })
  for (const { text, receiptHash } of lines) {
    picture.take({
      entry: JSON.parse(text),
      text,
      receiptHash: (receiptHash ?? undefined) as never
    })
  }
  return lines.map((_, n) => picture.at(n))
}
