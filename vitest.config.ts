import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/seed.ts', 'test/support/setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // Unset, one core is left idle, which on two is half of the machine.
    maxWorkers: '100%',
    // Modules are loaded once for all files of a worker: they hold no state that a test could
    // leave behind, and loading them for each file took a fifth of the time.
    isolate: false,
    // The build is loaded as Node loads it, not compiled once more.
    server: { deps: { external: [/\/dist\/src\//] } },
    restoreMocks: true
  }
})
