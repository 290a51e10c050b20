import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What `scripts/mutate.mjs` hands to Stryker. */
const { MUTATE_PART: name, MUTATE_FILES: files, MUTATE_TOOLS: tools } = process.env
const parts = JSON.parse(readFileSync('test/mutation/parts.json', 'utf8'))
const runner = ['@stryker-mutator', 'vitest-runner', 'dist', 'src', 'index.js']
const found = join(tools, 'found', name)

export default {
  mutate: files?.split(',') ?? parts[name].mutate,
  plugins: [join(tools, 'node_modules', ...runner)],
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  // What runs while modules load is seen by every test: each of these mutants would run them all.
  ignoreStatic: true,
  concurrency: 1,
  disableTypeChecks: false,
  // The compiler that it would read the file with is not the one that we have.
  tsconfigFile: 'none',
  ignorePatterns: ['dist', 'docs', 'bench', 'verifiers'],
  // Outside of the tree: a copy of the sources in it would be taken for sources.
  tempDirName: join(tmpdir(), `tallystick-mutation-${name}-${process.pid}`),
  cleanTempDir: 'always',
  incremental: true,
  incrementalFile: join(found, 'incremental.json'),
  reporters: ['json', 'dots'],
  jsonReporter: { fileName: join(found, 'report.json') },
  timeoutMS: 5_000,
  timeoutFactor: 2
}
