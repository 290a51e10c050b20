import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The files that take longest in their long form, a minute or more each. A clean clone knows no
 * durations, and Vitest begins the largest file first: one of these, which is short, was begun
 * last, and kept a core idle for two minutes.
 */
export const longestFiles: readonly string[] = [
  'test/simulate/runtime.test.ts',
  'test/security.test.ts',
  'test/docs-snippets.test.ts',
  'test/property/document-turns.test.ts',
  'test/script/workflow.test.ts',
  'test/property/secrets-stay-out.test.ts',
  'test/property/hostile-documents.test.ts',
  'test/property/functions-kill.test.ts',
  'test/property/own-promises.test.ts',
  'test/property/sent-once.test.ts',
  'test/property/bridge-on-real-chains.test.ts',
  'test/property/bridge-crash.test.ts',
  'test/property/tamper-matrix.test.ts',
  'test/property/queues-kill.test.ts'
]

/** Begins what takes longest, then the rest in Vitest's order. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.sort((one, other) => placeOf(one) - placeOf(other))
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = longestFiles.findIndex((file) => moduleId.endsWith(`/${file}`))
  return place < 0 ? longestFiles.length : place
}
