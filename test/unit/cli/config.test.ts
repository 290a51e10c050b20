import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { commandLine, completed } from '../../../src/cli/frame/command-line.js'
import { findConfig } from '../../../src/cli/frame/config.js'
import { createFrame, type Frame } from '../../../src/cli/frame/frame.js'

let folder: string
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'tally-config-')))
  await mkdir(join(folder, 'package/inner/deep'), { recursive: true })
  await mkdir(join(folder, 'loose/inner'), { recursive: true })
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const silent = { write: () => true }

function frameIn(path: string, options: { readonly dir?: string; readonly config?: string } = {}) {
  const cwd = join(folder, path)
  return createFrame(options, { stdout: silent, stderr: silent, environment: {}, cwd })
}

const pathFor = async (frame: Frame, given?: string) => (await findConfig(frame, given)).path

describe('findConfig', () => {
  it('looks from the working directory up to its package, and no further', async () => {
    await writeFile(join(folder, 'tally.config.ts'), '')
    await writeFile(join(folder, 'package/package.json'), '{}')
    expect(await pathFor(frameIn('package/inner/deep'))).toBeUndefined()
    const path = join(folder, 'package/tally.config.js')
    await writeFile(path, '')
    expect(await pathFor(frameIn('package/inner/deep'))).toBe(path)
    expect(await pathFor(frameIn('package'))).toBe(path)
  })

  it('looks only in the working directory where there is no package', async () => {
    const path = join(folder, 'loose/tally.config.json')
    await writeFile(path, '{}')
    expect(await pathFor(frameIn('loose'))).toBe(path)
    expect(await pathFor(frameIn('loose/inner'))).toBeUndefined()
  })

  it('takes nothing from or above the ledger when typed inside of it', async () => {
    await writeFile(join(folder, 'package/package.json'), '{}')
    await writeFile(join(folder, 'package/tally.config.ts'), '')
    await writeFile(join(folder, 'package/inner/tally.config.ts'), '')
    const dir = join(folder, 'package/inner')
    expect(await pathFor(frameIn('package/inner', { dir }))).toBeUndefined()
    expect(await pathFor(frameIn('package/inner/deep', { dir }))).toBeUndefined()
    expect(await pathFor(frameIn('package', { dir }))).toBe(join(folder, 'package/tally.config.ts'))
  })

  it('takes the file that was named', async () => {
    expect(await pathFor(frameIn('loose'), 'inner/mine.ts')).toBe(
      join(folder, 'loose/inner/mine.ts')
    )
  })
})

describe('commandLine', () => {
  it('repeats directory and configuration, and quotes for a shell', () => {
    const frame = frameIn('loose', { dir: "it's here", config: 'c.ts' })
    const command = commandLine(frame, ['approve', 'run', 'token'])
    expect(command).toBe(`tally approve run token --dir 'it'\\''s here' --config c.ts`)
    expect(commandLine(frameIn('loose'), ['runs'])).toBe('tally runs')
  })

  it('completes each command of a sentence by the options that it has and lacks', () => {
    const given = [
      ['--dir', 'my ledger'],
      ['--config', 'c.ts']
    ] as const
    const takes = ([name]: readonly string[], option: string) =>
      name === 'resume' || (name === 'show' && option === '--dir')
    const sentences = [
      ['See "tally show june".', `See "tally show june --dir 'my ledger'".`],
      ['Run `tally resume june`.', `Run \`tally resume june --dir 'my ledger' --config c.ts\`.`],
      ['"tally show a && tally help"', `"tally show a --dir 'my ledger' && tally help"`],
      ['"tally show a --dir b"', '"tally show a --dir b"'],
      ['tally show a, "totally", "tally', 'tally show a, "totally", "tally']
    ]
    for (const [sentence = '', whole] of sentences) {
      expect(completed({ given, takes }, sentence)).toBe(whole)
    }
  })
})
