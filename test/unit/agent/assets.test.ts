import { describe, expect, it } from 'vitest'
import { parseManifest } from '../../../src/agent/assets/parse-manifest.js'
import {
  type AssetFiles,
  anyFlowHost,
  compileFlow,
  memoryFiles,
  readPromptAssets
} from '../../../src/agent/index.js'
import { assemblePrompt } from '../../../src/agent/turn/prompt.js'
import type { Json } from '../../../src/core/index.js'
import { flowOf, nodeOf, runFlow } from '../../support/flows.js'

const head = (lines: readonly string[], body: string) =>
  ['---', ...lines, '---', body, ''].join('\n')

const files = {
  'f/global-system-prompt.md': '\uFEFFBe kind.\r\n',
  'f/agents/writer.agent.md': head(
    [
      'name: Writer',
      'agentId: writer',
      'adapterKind: fake',
      'output.kind: plan',
      'includes:',
      '  instructions: [short, plain]',
      '  skills: [rhyme]'
    ],
    'Write.\n\nWell.'
  ),
  'f/instructions/short.instructions.md': head(['name: short'], 'Be short.'),
  'f/instructions/plain.instructions.md': head(['name: plain'], 'Be kind.'),
  'f/skills/rhyme/SKILL.md': head(['name: rhyme', 'anything: else'], 'Rhyme.'),
  'f/skills/empty/README.md': 'no skill'
}

const read = (contents: Readonly<Record<string, string>>) =>
  readPromptAssets('f', { files: memoryFiles(contents) })

describe('prompt assets', () => {
  it('are the same whatever the order of a listing and the ends of lines', async () => {
    const turned: AssetFiles = {
      ...memoryFiles(files),
      readDirectory: async (path) => [...(await memoryFiles(files).readDirectory(path))].reverse()
    }
    const manifest = await read(files)
    expect(await readPromptAssets('f', { files: turned })).toEqual(manifest)
    const windows = Object.entries(files).map(([path, text]) => [
      path,
      text.replace(/\r?\n/g, '\r\n')
    ])
    expect(await read(Object.fromEntries(windows))).toEqual(manifest)
    expect(manifest.errors).toEqual([])
    expect(manifest.agents['writer']).toMatchObject({
      outputKind: 'plan',
      turnMode: 'normal',
      content: 'Write.\n\nWell.',
      sourcePath: 'agents/writer.agent.md'
    })
    expect(Object.keys(manifest.skills)).toEqual(['rhyme'])
  })

  it('are assembled in order, each text once, with the origin of each piece', async () => {
    const document = flowOf({
      agents: [],
      nodes: [nodeOf('ask', 'agent.main', { agentRef: 'writer', config: { turnMode: 'normal' } })],
      extensions: { promptAssets: (await read(files)) as unknown as Json }
    })
    const run = await runFlow(document, {
      script: () => ({ structured: { steps: ['one'] } }),
      inputs: { userPrompt: 'Go.' }
    })
    const data = run.result.response.data as { turn: { prompt: readonly unknown[] } }
    expect(data.turn.prompt).toMatchObject([
      { scope: 'global', label: 'global', sourcePath: 'global-system-prompt.md' },
      { scope: 'instruction', label: 'short', sourcePath: 'instructions/short.instructions.md' },
      { scope: 'skill', label: 'rhyme', sourcePath: 'skills/rhyme/SKILL.md' },
      { scope: 'agent', label: 'writer', sourcePath: 'agents/writer.agent.md' },
      { scope: 'input', label: 'userPrompt', sourcePath: null }
    ])
    expect(run.requests[0]?.prompt).toBe('Go.')
  })

  it('leave a prompt out that stands there already', () => {
    const segment = (content: string) => ({
      scope: 'agent' as const,
      label: content,
      sourcePath: null,
      content,
      hash: content as never
    })
    const { systemPrompt, prompt } = assemblePrompt({
      standing: [segment('a'), segment('b'), segment('a')],
      node: [segment('b'), segment('c')],
      input: { prompt: 'c', data: { z: 1, a: [true] }, previousResult: 'b' }
    })
    expect([systemPrompt, prompt]).toEqual(['a\n\nb', 'c\n\n{"a":[true],"z":1}'])
  })

  const damaged: readonly (readonly [
    string,
    Readonly<Record<string, string>>,
    string | undefined
  ])[] = [
    ['missing_include', { 'f/instructions/short.instructions.md': '' }, 'writer'],
    ['invalid_frontmatter', { 'f/agents/b.agent.md': '---\nname: [\n---\n' }, undefined],
    ['invalid_frontmatter', { 'f/agents/b.agent.md': '---\nname: B\n' }, undefined],
    ['invalid_frontmatter', { 'f/agents/b.agent.md': head(['name: B'], 'x') }, undefined],
    [
      'duplicate_agent_id',
      { 'f/agents/zz.agent.md': head(['name: B', 'agentId: writer'], 'x') },
      'writer'
    ],
    [
      'duplicate_instruction_name',
      { 'f/instructions/z.instructions.md': head(['name: short'], 'x') },
      undefined
    ],
    ['file_read_error', { 'f/skills/rhyme/SKILL.md': 'x'.repeat(300 * 1024) }, undefined]
  ]
  for (const [code, change, agentId] of damaged) {
    it(`tell ${code} of ${Object.keys(change).join()}`, async () => {
      const { errors } = await read({ ...files, ...change })
      const found = errors.find((error) => error.code === code)
      expect(found).toBeDefined()
      expect(found?.agentId).toBe(agentId)
    })
  }

  it('block only the agents that an error concerns', async () => {
    const alone = head(['name: Alone', 'agentId: alone', 'adapterKind: fake'], 'Alone.')
    const manifest = await read({
      ...files,
      'f/agents/alone.agent.md': alone,
      'f/skills/rhyme/SKILL.md': '---\nnever ends'
    })
    const using = (agentRef: string) =>
      compileFlow(
        flowOf({
          nodes: [nodeOf('ask', 'agent.main', { agentRef })],
          extensions: { promptAssets: manifest as unknown as Json }
        }),
        anyFlowHost
      )
    expect(using('alone').ok).toBe(true)
    const writer = using('writer')
    expect(writer.ok ? [] : writer.findings.map(({ code }) => code)).toEqual([
      'agent_asset_invalid'
    ])
  })

  it('are refused in a document when a text is not what its hash says', async () => {
    const manifest = await read(files)
    expect(parseManifest(manifest as unknown as Json)).toEqual({ ok: true, manifest })
    const changed = JSON.parse(JSON.stringify(manifest).replace('Be short.', 'Be long.')) as Json
    expect(parseManifest(changed)).toMatchObject({ ok: false })
  })
})
