import { spawnSync } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtFile } from '../support/built.js'
import { documentOf, Project } from '../support/project.js'

let project: Project
beforeAll(async () => {
  project = await Project.create()
  expect((await project.tally(['init', '--insecure-plaintext-key'])).code).toBe(0)
  const words = ['run', 'greet.yaml', '--id', 'hello', '--inputs', '{"name":"Ada"}']
  expect((await project.tally(words)).code).toBe(0)
})
afterAll(() => project.remove())

const ESCAPE = '\u001b'
const OVERRIDE = '\u202e'

describe('output', () => {
  it('T23: controls and bidirectional marks of data never reach the terminal', async () => {
    const name = `${ESCAPE}[2J${OVERRIDE}evil\u009b`
    const inputs = JSON.stringify({ name })
    const words = ['run', 'greet.yaml', '--id', 'evil', '--inputs', inputs]
    const commands = [words, [...words, '--json'], ['log'], ['log', '--json'], ['show', 'evil']]
    for (const command of [...commands, ['show', name], ['show', name, '--json'], [name]]) {
      const { stdout, stderr } = await project.tally(command)
      expect(`${stdout}${stderr}`.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    }
    const log = await project.tally(['log', '--json'])
    expect(log.documents.at(-1)).not.toBeUndefined()
    expect(JSON.stringify(log.documents)).toContain('evil')
  })

  it('has no colours where there is no terminal', async () => {
    const { stdout } = await project.tally(['runs'], { environment: { NO_COLOR: undefined } })
    expect(stdout).toContain('hello done')
  })
})

describe('a closed pipe', () => {
  it('ends a command without a word', async () => {
    const line = `set -o pipefail; "${process.execPath}" "${builtFile('cli/main.js')}" log | true`
    const { status, stderr } = spawnSync('bash', ['-c', line], {
      cwd: project.folder,
      encoding: 'utf8'
    })
    expect({ status, stderr }).toEqual({ status: 141, stderr: '' })
  })
})

describe('show', () => {
  it('shows runs with their journal, and receipts by place and by hash', async () => {
    const run = await project.tally(['show', 'hello', '--journal'])
    expect(run.stdout).toContain('run.finished')
    const first = await project.tally(['show', '0', '--json'])
    const { receipt } = documentOf(first, 'receipt') as {
      readonly receipt: { readonly receiptHash: string }
    }
    const same = await project.tally(['show', receipt.receiptHash, '--json'])
    expect(documentOf(same, 'receipt')).toEqual(documentOf(first, 'receipt'))
    expect((await project.tally(['show', '0'])).stdout).toContain('greeted: absent -> "Ada"')
    const short = await project.tally(['show', receipt.receiptHash.slice(0, 12)])
    expect(short).toMatchObject({ code: 2, stderr: expect.stringContaining('by its place') })
  })
})

describe('replay', () => {
  it('P2: executes one receipt again, or all, without a key', async () => {
    const one = await project.tally(['replay', '0', '--json'])
    expect(one.code).toBe(0)
    expect(documentOf(one, 'replay')).toMatchObject({ ok: true, index: 0 })
    const all = await project.tally(['replay', '--json'])
    expect(all.code).toBe(0)
    expect(documentOf(all, 'verification')).toMatchObject({ ok: true })
  })
})

describe('recover', () => {
  it('K2: finds nothing to do in a sound ledger', async () => {
    const recovered = await project.tally(['recover', '--json'])
    expect(recovered.code).toBe(0)
    expect(documentOf(recovered, 'recovery')).toMatchObject({ kind: 'clean' })
  })
})

describe('documents', () => {
  it('lint says what it did not check, and checks names with a configuration', async () => {
    const alone = await project.tally(['lint', 'unknown-block.yaml', '--json'])
    expect(alone.code).toBe(0)
    expect(documentOf(alone, 'lint')).toMatchObject({ ok: true })
    expect(alone.stdout).toContain('notChecked":["that there are the blocks')
    const named = ['lint', 'unknown-block.yaml', '--config', 'tally.config.ts']
    const checked = await project.tally(named)
    expect(checked.code).toBe(2)
    expect(checked.stdout).toContain('nothing.of.this.name')
    expect((await project.tally(['lint', 'invalid.yaml'])).code).toBe(2)
  })

  it('graph draws a document without any configuration', async () => {
    const mermaid = await project.tally(['graph', 'unknown-condition.yaml'])
    expect(mermaid.code).toBe(0)
    expect(mermaid.stdout).toContain('stateDiagram-v2')
    const source = await project.tally(['graph', 'greet.yaml', '--format', 'xstate'])
    expect(source.stdout).toContain('createMachine(')
    const json = await project.tally(['graph', 'greet.yaml', '--format', 'json'])
    expect(JSON.parse(json.stdout)).toHaveProperty('states')
    expect((await project.tally(['graph', 'greet.yaml', '--format', 'png'])).code).toBe(2)
  })
})

describe('configuration', () => {
  it('is not loaded from the directory of the ledger, wherever the command is typed', async () => {
    const code = "throw new Error('the configuration of a stranger was loaded')\n"
    await writeFile(project.path('.tally/tally.config.ts'), code)
    await mkdir(project.path('.tally/inner'), { recursive: true })
    for (const cwd of [project.path('.tally'), project.path('.tally/inner')]) {
      const words = ['run', project.path('greet.yaml'), '--dir', project.path('.tally'), '--json']
      const run = await project.tally(words, { cwd })
      expect(run.stderr).toContain('no configuration: the working directory lies in')
      expect(run.stdout).not.toContain('stranger')
      expect(run.code).toBe(2)
    }
  })

  it('an MCP server that cannot be used is reported', async () => {
    await project.write('broken.config.ts', 'export default { bloks: [] }\n')
    await project.write('throwing.config.ts', "throw new Error('not today')\n")
    for (const [file, why] of [
      ['broken.config.ts', 'bloks'],
      ['throwing.config.ts', 'not today']
    ] as const) {
      const run = await project.tally(['run', 'greet.yaml', '--config', file, '--json'])
      expect(run.code).toBe(2)
      expect(documentOf(run, 'error')).toMatchObject({ code: 'cli.invalid_config' })
      expect(run.stdout).toContain(why)
    }
  })
})

describe('doctor', () => {
  it('says what it finds and where settings come from', async () => {
    const found = await project.tally(['doctor'])
    expect(found.code).toBe(0)
    expect(found.stdout).toContain('plain text, mode 0600')
    expect(found.stdout).toContain('TALLY_PASSPHRASE')
    const empty = await project.tally(['doctor', '--dir', 'none', '--json'])
    expect(documentOf(empty, 'doctor')).toMatchObject({ ok: true })
  })
})

describe('key', () => {
  it('K2: is replaced and distrusted in one command', async () => {
    const revoked = await project.tally(['key', 'revoke', '--json'])
    expect(revoked.code).toBe(0)
    const [rotation, revocation] = revoked.documents
    const { replaced } = rotation as Record<string, string>
    expect(revocation).toMatchObject({ $type: 'intent', publicKey: replaced, revoked: true })
    expect(await readdir(project.path('.tally/keys'))).toEqual([`${replaced}.json`])
  })
})
