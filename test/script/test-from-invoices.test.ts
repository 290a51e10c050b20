import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openConfig, openRecording } from '../../src/testing/index.js'
import { isLong } from '../support/effort.js'
import { documentOf, Project } from '../support/project.js'
import { root } from '../support/source.js'

/** The invoice example as a user has it: a folder with its packages beside it. */
let project: Project
const config = ['--config', 'invoices/tally.config.ts']
beforeAll(async () => {
  project = await Project.create()
  await mkdir(project.path('node_modules'))
  await symlink(root, project.path('node_modules/tallystick'))
  await symlink(join(root, 'node_modules/zod'), project.path('node_modules/zod'))
  for (const folder of ['invoices', 'changed']) {
    await cp(join(root, 'examples/01-invoices'), project.path(folder), { recursive: true })
  }
  vi.stubEnv('BANK_BOOK', project.path('bank.jsonl'))
  await project.tally(['init', '--insecure-plaintext-key'])
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await project.remove()
})

/** What the test of June says of the code in a folder; empty: it passes. */
async function saidOf(folder: string): Promise<string> {
  if (isLong) {
    const { VITEST: _, NODE_TEST_CONTEXT: __, ...env } = process.env
    const program = readFileSync(project.path('june.test.mjs'), 'utf8')
    await project.write(`${folder}.test.mjs`, program.replace('./invoices/', `./${folder}/`))
    const words = [`${folder}.test.mjs`]
    const run = spawnSync(process.execPath, words, { cwd: project.folder, env, encoding: 'utf8' })
    return run.status === 0 ? '' : run.stdout
  }
  const run = await openRecording(pathToFileURL(project.path('june.test.json')))
  const code = await openConfig(pathToFileURL(project.path(`${folder}/tally.config.ts`)))
  const { outcome, text } = await run.replay(code)
  return outcome === 'same' ? '' : text
}

it('a run of the invoice example is a test of it, without its files, bank and people', async () => {
  const inputs = { path: project.path('invoices/invoices.csv'), confirm_above: '10000.00' }
  const run = ['run', 'invoices/pay-invoices.yaml', '--id', 'june', ...config, '--json']
  const asked = await project.tally([...run, '--inputs', JSON.stringify(inputs)])
  expect(asked.code, asked.stderr).toBe(4)
  const { waits } = documentOf(asked, 'waiting') as {
    readonly waits: readonly { readonly token: string }[]
  }
  const answer = ['approve', 'june', waits[0]?.token ?? '', ...config, '--json']
  const approved = await project.tally(answer)
  expect(documentOf(approved, 'result')).toMatchObject({ status: 'done' })
  const book = readFileSync(project.path('bank.jsonl'), 'utf8')

  const made = await project.tally(['test', 'from', 'june', ...config, '--json'])
  expect(made.code, made.stdout + made.stderr).toBe(0)
  expect(documentOf(made, 'test')).toMatchObject({ outcome: 'same' })
  await rm(inputs.path)
  await rm(project.path('.tally'), { recursive: true, force: true })
  expect(await saidOf('invoices')).toBe('')
  expect(readFileSync(project.path('bank.jsonl'), 'utf8')).toBe(book)

  const blocks = readFileSync(project.path('changed/blocks.ts'), 'utf8')
  const changed = blocks.replace('}, 0n)', '}, 1n)')
  expect(changed).not.toBe(blocks)
  await project.write('changed/blocks.ts', changed)
  const said = await saidOf('changed')
  expect(said).toContain('run june comes out otherwise at ')
  expect(said).toContain('of root/report')
})
