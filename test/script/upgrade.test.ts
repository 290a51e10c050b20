import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentOf, Project } from '../support/project.js'

let project: Project
beforeAll(async () => {
  project = await Project.create()
  await project.write('only-new.config.ts', configOf('2'))
  await project.write('both.config.ts', configOf('1', '2'))
  await project.tally(['init', '--insecure-plaintext-key'])
  await project.tally(['run', 'ask.yaml', '--id', 'open'])
})
afterAll(() => project.remove())

function configOf(...versions: readonly string[]): string {
  const blocks = versions.map(
    (version) => `defineBlock({
  name: 'ask',
  version: '${version}',
  sideEffects: 'none',
  run: async (ctx) => {
    const answer = await ctx.wait({ reason: 'external', request: { question: 'how many?' } })
    return { answer: answer.value }
  }
})`
  )
  return `import { defineBlock, defineConfig } from 'tallystick'
export default defineConfig({ blocks: [${blocks.join(', ')}] })
`
}

describe('a deploy, from the command line', () => {
  it('B10: upgrade check and verify --complete tell by their exit codes what is missing', async () => {
    const now = await project.tally(['upgrade', 'check', '--json'])
    expect(now.code, now.stderr).toBe(0)
    expect(documentOf(now, 'upgrade')).toMatchObject({ ok: true, open: 1, ready: 1 })
    const newer = await project.tally(['upgrade', 'check', 'only-new.config.ts', '--json'])
    expect(newer.code).toBe(1)
    expect(documentOf(newer, 'readiness')).toMatchObject({
      id: 'open',
      ready: false,
      missing: ['ask@1']
    })
    const both = await project.tally(['upgrade', 'check', 'both.config.ts'])
    expect(both.code).toBe(0)
    expect(both.stdout).toContain('1 of 1 open runs can continue')

    const config = (name: string) => ['--config', `${name}.config.ts`, '--json']
    const resumed = await project.tally(['resume', 'open', '--value', '3', ...config('both')])
    expect(resumed.code, resumed.stdout).toBe(0)
    const part = await project.tally(['verify', '--replay', ...config('only-new')])
    expect(part.code).toBe(0)
    expect(documentOf(part, 'verification')).toMatchObject({ ok: true, complete: false })
    const refused = await project.tally(['verify', '--complete', ...config('only-new')])
    expect(refused.code).toBe(3)
    const whole = await project.tally(['verify', '--complete', ...config('both')])
    expect(whole.code).toBe(0)
    expect(documentOf(whole, 'verification')).toMatchObject({ ok: true, complete: true })
  })
})
