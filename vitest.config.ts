import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { isLong, testMs } from './test/support/effort.js'
import { filesLeftOut } from './test/support/long-files.js'
import { LongestFirst } from './test/support/longest-first.js'

/** Tests that count operations: of code that a test before them has compiled, nothing is counted. */
const counted = [
  'test/property/hostile-documents.test.ts',
  'test/property/hostile-snapshots.test.ts',
  'test/unit/core/escapes.test.ts',
  'test/unit/core/json-places.test.ts'
]

// Behind the name of vitest's own command.
const leftOut = filesLeftOut(process.argv.slice(3))

export default defineConfig({
  test: {
    globalSetup: ['test/support/memory-disk.ts', 'test/support/command-forms.ts'],
    setupFiles: ['test/support/seed.ts', 'test/support/setup.ts'],
    testTimeout: testMs(120_000),
    hookTimeout: 120_000,
    pool: 'forks',
    // More than cores: tests wait for processes, timers and disks. Those of the long form have
    // processes of their own that are killed in time.
    maxWorkers: Math.ceil(availableParallelism() * (isLong ? 1.5 : 2)),
    // The build is loaded as Node loads it, not compiled once more.
    server: { deps: { external: [/\/dist\/(src|docs-compiled)\//] } },
    restoreMocks: true,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        // Modules are loaded once for all files of a worker: they hold no state that a test could
        // leave behind, and loading them for each file took a fifth of the time.
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...counted, ...leftOut],
          isolate: false
        }
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: counted,
          exclude: [...leftOut],
          isolate: true,
          provide: { isAlone: true }
        }
      }
    ]
  }
})
