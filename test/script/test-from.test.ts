import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rm, symlink } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentOf, Project } from '../support/project.js'
import { root } from '../support/source.js'

const config = (greeting: string) => `
import { defineBlock, defineConfig } from 'tallystick'
const hello = defineBlock({
  name: 'hello', version: '1.0.0', sideEffects: 'none',
  run: (ctx) => ({ said: '${greeting}', before: ctx.state.get('said') ?? null })
})
const ask = defineBlock({
  name: 'question', version: '1.0.0', sideEffects: 'none',
  run: (ctx) => ctx.wait({ reason: 'external', request: '${greeting}?' })
})
const vault = defineBlock({
  name: 'vault', version: '1.0.0', sideEffects: 'none', private: { input: true },
  run: (ctx) => ctx.fail('no_luck', { said: 'a diagnosis' })
})
export default defineConfig({ blocks: [hello, ask, vault] })
`
const document = (...nodes: readonly string[]) =>
  JSON.stringify({
    schema: 'tally-composite/1',
    name: 'talk',
    version: '1.0.0',
    entry_point: nodes[0],
    nodes: Object.fromEntries(nodes.map((block) => [block, { block }])),
    transitions: nodes[1] === undefined ? {} : { [nodes[0] ?? '']: nodes[1] }
  })

let project: Project
beforeAll(async () => {
  project = await Project.create()
  await mkdir(project.path('node_modules'))
  await symlink(root, project.path('node_modules/tallystick'))
  await project.write('talk.config.ts', config('good day'))
  await project.write('hello.json', document('hello'))
  await project.write('parked.json', document('hello', 'question'))
  const given = ['--config', 'talk.config.ts']
  await project.tally(['init', '--insecure-plaintext-key'])
  await project.tally(['run', 'hello.json', '--id', 'one', ...given])
  await project.tally(['run', 'parked.json', '--id', 'two', ...given])
  await project.write('hidden.json', document('vault'))
  await project.tally(['run', 'hidden.json', '--id', 'three', ...given])
  await project.write('same.config.ts', config('good day'))
})
afterAll(() => project.remove())

function tested(file: string) {
  const { VITEST: _, NODE_TEST_CONTEXT: __, ...env } = process.env
  return spawnSync(process.execPath, [file], { cwd: project.folder, env, encoding: 'utf8' })
}

describe('tally test from', () => {
  it('writes a test that passes, and fails and says where when the code is changed', async () => {
    for (const run of ['one', 'two']) {
      const words = ['test', 'from', run, '--config', 'talk.config.ts', '--json']
      const made = await project.tally(words)
      expect(made.code, made.stdout + made.stderr).toBe(0)
      expect(documentOf(made, 'test')).toMatchObject({ outcome: 'same' })
      const text = readFileSync(project.path(`${run}.test.mjs`), 'utf8')
      expect(text.split('\n').length).toBeLessThanOrEqual(30)
      const passed = tested(`${run}.test.mjs`)
      expect(passed.status, passed.stdout + passed.stderr).toBe(0)
    }
    await project.write('talk.config.ts', config('good night'))
    for (const run of ['one', 'two']) {
      const failed = tested(`${run}.test.mjs`)
      expect(failed.status).toBe(1)
      expect(failed.stdout).toContain(`run ${run} comes out otherwise at `)
      expect(failed.stdout).toContain('good night')
    }
  })

  it('refuses what it cannot make a test of, and says why', async () => {
    const none = await project.tally(['test', 'from', 'none', '--json'])
    expect(none.code).toBe(2)
    expect(documentOf(none, 'error')).toMatchObject({ code: 'run.not_found' })
    const gone = await project.tally(['test', 'from', 'one', '--json', '--out', 'gone.test.mjs'])
    expect(gone.code).toBe(1)
    expect(documentOf(gone, 'test')).toMatchObject({ outcome: 'not_checked', file: null })
  })

  it('refuses a failed run with what is declared private, and names who has', async () => {
    const words = ['test', 'from', 'three', '--config', 'same.config.ts', '--json']
    const refused = await project.tally(words)
    expect(refused.code).toBe(2)
    const error = documentOf(refused, 'error')
    expect(error).toMatchObject({ code: 'cli.private_run' })
    expect(error['fix']).toContain('--private')
    expect(error['message']).toContain('vault@1.0.0')
    expect(refused.stdout + refused.stderr).not.toContain('a diagnosis')
    expect(existsSync(project.path('three.test.mjs'))).toBe(false)
    expect(existsSync(project.path('three.test.json'))).toBe(false)
    const made = await project.tally([...words, '--private'])
    expect(made.code, made.stdout + made.stderr).toBe(0)
    expect(readFileSync(project.path('three.test.mjs'), 'utf8')).toContain('declared private')
    expect(readFileSync(project.path('three.test.json'), 'utf8')).toContain('a diagnosis')
  })

  it('writes elsewhere, and over files that are there only by force', async () => {
    await mkdir(project.path('tests'))
    const out = ['--out', 'tests/a.test.ts']
    const words = ['test', 'from', 'one', '--config', 'same.config.ts', '--json', ...out]
    const made = await project.tally(words)
    expect(made.code, made.stdout + made.stderr).toBe(0)
    expect(documentOf(made, 'test')).toMatchObject({
      file: project.path('tests/a.test.ts'),
      recording: project.path('tests/a.test.json')
    })
    const text = readFileSync(project.path('tests/a.test.ts'), 'utf8')
    expect(text).toContain('new URL("../same.config.ts", import.meta.url)')
    for (const kept of ['tests/a.test.ts', 'tests/a.test.json']) {
      await project.write(kept, 'mine')
      const refused = await project.tally(words)
      expect(refused.code).toBe(2)
      const error = documentOf(refused, 'error')
      expect(error).toMatchObject({ code: 'cli.usage' })
      expect(error['message']).toContain('--force')
      expect(readFileSync(project.path(kept), 'utf8')).toBe('mine')
      expect((await project.tally([...words, '--force'])).code).toBe(0)
      expect(readFileSync(project.path(kept), 'utf8')).not.toBe('mine')
    }
    await rm(project.path('tests/a.test.ts'))
    await project.write('tests/a.test.json', 'mine')
    expect((await project.tally(words)).code).toBe(2)
    expect(existsSync(project.path('tests/a.test.ts'))).toBe(false)
  })

  it.each([
    ['a.json', 'ends in none of'],
    ['a.test.cjs', 'ends in none of'],
    ['nowhere/a.test.mjs', 'cannot be written']
  ])('refuses to write a test to %s, and says why', async (out, why) => {
    const words = ['test', 'from', 'one', '--config', 'same.config.ts', '--json', '--out', out]
    const refused = await project.tally(words)
    expect(refused.code).toBe(2)
    const error = documentOf(refused, 'error')
    expect(error).toMatchObject({ code: 'cli.usage' })
    expect(error['message']).toContain(why)
    expect(error['fix']).not.toBe('')
  })
})
