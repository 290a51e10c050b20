import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

/** One project, and of the tests those that judge the part: what `npm run mutate` runs. */
const name = process.env['MUTATE_PART'] ?? ''
const parts = JSON.parse(readFileSync('test/mutation/parts.json', 'utf8')) as {
  readonly [name: string]: { readonly tests: readonly string[] } | undefined
}

export default defineConfig({
  test: {
    setupFiles: ['test/support/seed.ts'],
    include: [...(parts[name]?.tests ?? [])],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    isolate: false,
    restoreMocks: true
  }
})
