import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** What `npm run mutate` runs: sources with mutants in them, and tests that are collected. */
const root = join(import.meta.dirname, '..', '..')
const plan = JSON.parse(readFileSync(process.env['MUTATE_PLAN'] ?? '', 'utf8')) as {
  readonly sources: Readonly<Record<string, string>>
}
const own = join(root, 'test', 'mutation')

export default defineConfig({
  root,
  plugins: [
    {
      name: 'mutants',
      enforce: 'pre',
      resolveId(source, importer) {
        if (source !== 'vitest' || importer === undefined || importer.startsWith(own)) return null
        return join(own, 'collected.ts')
      },
      load(id) {
        return plan.sources[id.split('?')[0] ?? ''] ?? null
      }
    }
  ],
  test: {
    setupFiles: ['test/support/seed.ts'],
    include: ['test/mutation/driver.ts'],
    pool: 'forks',
    maxWorkers: 1,
    isolate: false,
    dangerouslyIgnoreUnhandledErrors: true
  }
})
