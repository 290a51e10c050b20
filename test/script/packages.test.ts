import { mkdir, readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentOf, Project } from '../support/project.js'

let project: Project
beforeAll(async () => {
  project = await Project.create()
  await mkdir(project.path('counter'))
  const manifest = {
    name: 'Counter',
    id: 'counter',
    version: '1.0.0',
    intents: ['counter.add'],
    capabilities: ['storage.read', 'storage.write']
  }
  await project.write('counter/manifest.json', JSON.stringify(manifest))
  await project.write('counter/index.ts', "export { run } from './count.js'\n")
  await project.write('counter/count.ts', count)
})
afterAll(() => project.remove())

const count = `
interface Api {
  storage: { get(key: string): number | undefined; set(key: string, value: number): void }
}
export async function run({ payload }: { payload: { by: number } }, { storage }: Api) {
  const total = (storage.get('total') ?? 0) + payload.by
  storage.set('total', total)
  return { total }
}
`

describe('package pack', () => {
  it('K8: bundles TypeScript into one module and tells the hash of what would run', async () => {
    const packed = await project.tally(['package', 'pack', 'counter', '-o', 'a.json', '--json'])
    expect(packed.code).toBe(0)
    const told = documentOf(packed, 'package')
    expect(told).toMatchObject({
      id: 'counter',
      version: '1.0.0',
      codeHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      intents: ['counter.add'],
      capabilities: ['storage.read', 'storage.write']
    })
    const again = await project.tally(['package', 'pack', './counter', '-o', 'b.json'])
    expect(again.stdout).toContain(`code hash ${String(told['codeHash'])}`)
    const texts = await Promise.all(['a.json', 'b.json'].map((one) => readFile(project.path(one))))
    expect(texts[0]?.equals(texts[1] ?? Buffer.of())).toBe(true)
  })

  it('K3: says why a package is refused, and gives no hash', async () => {
    await mkdir(project.path('greedy'))
    const manifest = { name: 'Greedy', intents: ['g.o'], capabilities: ['disk.read'] }
    await project.write('greedy/manifest.json', JSON.stringify(manifest))
    await project.write('greedy/index.js', 'export const run = () => null\n')
    const refused = await project.tally(['package', 'pack', 'greedy', '--json'])
    expect(refused.code).toBe(2)
    expect(documentOf(refused, 'package.refused')).toMatchObject({
      refusals: [{ code: 'unknown_capability' }]
    })
    const shown = await project.tally(['package', 'pack', 'nowhere'])
    expect(shown).toMatchObject({ code: 2, stdout: expect.stringContaining('missing_file') })
  })
})
