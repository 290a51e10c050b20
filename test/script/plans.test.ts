import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentOf, Project } from '../support/project.js'

let project: Project
beforeAll(async () => {
  project = await Project.create()
  expect((await project.tally(['init', '--insecure-plaintext-key'])).code).toBe(0)
})
afterAll(() => project.remove())

const plan = `schema: tally-plan/1
name: greetings
version: "1"
nodes:
  - { id: one, block: greet }
  - { id: two, block: greet, deps: [one] }
`
const graph = `schema: tally-graph/1
name: greetings.twice
steps:
  - { id: one, block: greet, args: { name: Ada } }
  - { id: two, block: greet, args: { name: Grace }, depends_on: [one] }
`

async function write(name: string, text: string): Promise<string> {
  await writeFile(join(project.folder, name), text)
  return name
}

describe('plans on the command line', () => {
  it('C2: run, verify, lint and draw like any other document', async () => {
    const file = await write('plan.yaml', plan)
    const words = ['run', file, '--id', 'plan', '--inputs', '{"name":"Ada"}']
    expect((await project.tally(words)).code).toBe(0)
    expect((await project.tally(['lint', file])).stdout).toContain('0 errors')
    const drawn = await project.tally(['graph', file])
    expect(drawn.stdout).toBe('flowchart TD\n  s_one["one"]\n  s_two["two"]\n  s_one --> s_two\n')
    const chart = await project.tally(['graph', file, '--format', 'chart'])
    expect(chart.stdout).toContain('stopping')
    const verified = await project.tally(['verify', '--replay', '--json'])
    expect(documentOf(verified, 'verification')).toMatchObject({ ok: true })
  })

  it('C1: execution graphs too; a circle is refused with its line', async () => {
    const file = await write('graph.yaml', graph)
    const { code } = await project.tally(['run', file, '--id', 'graph'])
    expect(code).toBe(0)
    const atomic = await write('atomic.yaml', `${graph}atomic: true\n`)
    const drawn = await project.tally(['graph', atomic])
    expect(drawn).toMatchObject({ code: 0, stdout: expect.stringContaining('s_one --> s_two') })
    const circle = await write('circle.yaml', graph.replace('Ada }', 'Ada }, depends_on: [two]'))
    const refused = await project.tally(['lint', circle])
    expect(refused.code).not.toBe(0)
    expect(refused.stdout).toContain('one -> two -> one')
  })
})
