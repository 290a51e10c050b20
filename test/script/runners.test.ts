import { spawnSync } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isLong } from '../support/effort.js'
import { Project } from '../support/project.js'
import { root } from '../support/source.js'

const config = `
import { defineBlock, defineConfig } from 'tallystick'
import { z } from 'zod'
export const hello = defineBlock({
  name: 'hello', version: '1.0.0', sideEffects: 'idempotent', input: z.object({ to: z.string() }),
  run: async (ctx, { to }) => {
    const said = await ctx.effect('say', { request: { to }, perform: () => ({ words: ['hello'] }) })
    ctx.state.set('said', said)
    return { said, before: [to] }
  }
})
export default defineConfig({ blocks: [hello] })
`

const document = {
  schema: 'tally-composite/1',
  name: 'talk',
  version: '1.0.0',
  entry_point: 'hello',
  nodes: { hello: { block: 'hello' } }
}

/** What a user writes; the other file is what `tally test from` has written. */
const written = `
import assert from 'node:assert/strict'
import { fromLedger, openConfig, verifyMachine } from 'tallystick/testing'

const { test } = process.env.VITEST
  ? await import('vitest')
  : globalThis.test
    ? globalThis
    : await import('node:test')
const config = await openConfig(new URL('./tally.config.ts', import.meta.url))
const [hello] = config.blocks

test('a machine', async () => {
  const effects = { say: { answer: () => ({ words: [] }) } }
  const report = await verifyMachine(hello, { effects, cases: 5 })
  assert.equal(report.cases, 5)
})

test('a run of a ledger', async () => {
  const run = await fromLedger(DIRECTORY, 'one')
  const report = await run.replay(config)
  assert.equal(report.outcome, 'same', report.text)
})
`

let project: Project
beforeAll(async () => {
  project = await Project.create()
  await mkdir(project.path('node_modules'))
  await symlink(root, project.path('node_modules/tallystick'))
  for (const name of ['zod', 'fast-check', 'vitest']) {
    await symlink(join(root, 'node_modules', name), project.path(join('node_modules', name)))
  }
  await project.write('tally.config.ts', config)
  await project.write('talk.json', JSON.stringify(document))
  await project.tally(['init', '--insecure-plaintext-key'])
  const inputs = ['--inputs', '{"to":"all"}']
  const ran = await project.tally(['run', 'talk.json', '--id', 'one', ...inputs])
  expect(ran.code, ran.stdout + ran.stderr).toBe(0)
  const made = await project.tally(['test', 'from', 'one'])
  expect(made.code, made.stdout + made.stderr).toBe(0)
  const directory = JSON.stringify(project.path('.tally'))
  await project.write('mine.test.mjs', written.replace('DIRECTORY', directory))
})
afterAll(() => project.remove())

function typed(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const { VITEST: _, NODE_TEST_CONTEXT: __, NODE_OPTIONS: ___, ...env } = process.env
  const options = {
    cwd: project.folder,
    env: { ...env, ...environment },
    encoding: 'utf8'
  } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options)
  return { status, said: stdout + stderr }
}

/** Not a dependency: it has 185 packages. `.ci/run` installs it, and names its program here. */
const jest = process.env['JEST']

const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const runners: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['node:test', ['--test', 'mine.test.mjs', 'one.test.mjs'], /pass 3/],
  ...(isLong ? [['Vitest', [vitest, 'run', '--root', '.'], /3 passed/] as const] : []),
  ...(jest === undefined
    ? []
    : [['Jest', ['--experimental-vm-modules', jest, '--rootDir', '.'], /3 passed/] as const])
]

describe('tests with the kit, and tests that a command has written', () => {
  it.each(runners)('pass under %s as they are', (_, words, passed) => {
    const { status, said } = typed(words)
    expect(status, said).toBe(0)
    expect(said).toMatch(passed)
  })
})
