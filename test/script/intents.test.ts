import { afterAll, beforeAll, expect, it } from 'vitest'
import { counterPackage, PackageFolder } from '../support/packages.js'
import { documentOf, Project } from '../support/project.js'

let project: Project
let folder: PackageFolder

const config = (directory: string) => `
import { defineBlock, defineConfig } from 'tallystick'
const serve = defineBlock({
  name: 'serve',
  version: '1',
  sideEffects: 'none',
  intents: ['serve.tea'],
  run: (ctx, input: { cups?: number }) => ({ cups: input.cups ?? 1 })
})
export default defineConfig({ blocks: [serve], packages: [${JSON.stringify(directory)}] })
`

beforeAll(async () => {
  folder = await PackageFolder.create()
  project = await Project.create()
  await project.write('tally.config.ts', config(await folder.write(counterPackage)))
  expect((await project.tally(['init', '--insecure-plaintext-key'])).code).toBe(0)
})

afterAll(async () => {
  await project.remove()
  await folder.remove()
})

it('does an intent of a trusted block, and shows its receipt', async () => {
  const words = ['intent', 'serve.tea', '--payload', '{"cups":2}', '--id', 'tea', '--json']
  const done = await project.tally(words)
  expect(done.code).toBe(0)
  expect(documentOf(done, 'intent')).toMatchObject({ dappId: 'block:serve@1', cups: 2 })
  expect((await project.tally(words)).stdout).toBe(done.stdout)
  const shown = await project.tally(['show', 'tea', '--json'])
  expect(documentOf(shown, 'run')).toMatchObject({ status: 'done', name: 'serve.tea' })
})

it('K5: a package asks, continues once granted, and loses what is taken back', async () => {
  const asked = await project.tally(['intent', 'count.up', '--id', 'first'])
  expect(asked.code).toBe(4)
  expect(asked.stdout).toContain('tally grant counter')
  expect((await project.tally(['grant', 'counter'])).code).toBe(0)
  const first = await project.tally(['intent', 'count.up', '--id', 'first', '--json'])
  expect(documentOf(first, 'intent')).toMatchObject({ type: 'dapp', count: 1 })
  const listed = await project.tally(['permissions'])
  expect(listed.stdout).toMatch(/counter +storage\.write/)
  expect((await project.tally(['prefer', 'count.up', 'counter'])).code).toBe(0)
  expect((await project.tally(['revoke', 'counter', 'storage.write'])).code).toBe(0)
  expect((await project.tally(['intent', 'count.up'])).code).toBe(4)
  const verified = await project.tally(['verify', '--replay'])
  expect(verified.stdout).toContain('re-executed')
  expect(verified.code).toBe(0)
})

it('says why an intent came to nothing', async () => {
  const unknown = await project.tally(['intent', 'nobody.knows', '--json'])
  expect(unknown.code).toBe(1)
  expect(documentOf(unknown, 'intent')).toMatchObject({ type: 'error', reason: 'no_match' })
})
