import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { callerLine } from '../../../src/code/caller-line.js'
import { root } from '../../support/source.js'

it('is that of the code which calls, and none of this library', () => {
  expect(callerLine()).toMatch(/caller-line\.test\.ts:\d+:\d+$/)
})

it('is that of the code which calls a bundle of this library, as an installed package has it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tally-caller-'))
  try {
    const library = join(folder, 'node_modules', 'library')
    await mkdir(library, { recursive: true })
    await build({
      stdin: {
        contents: `import { callerLine } from './src/code/caller-line.ts'
          export const step = () => callerLine()`,
        resolveDir: root
      },
      bundle: true,
      format: 'esm',
      outfile: join(library, 'chunk-ABC.mjs')
    })
    const program = join(folder, 'program.mjs')
    const lines = ["import { step } from './node_modules/library/chunk-ABC.mjs'", '', '']
    await writeFile(program, [...lines, 'export const line = step()'].join('\n'))
    const { line } = await import(pathToFileURL(program).href)
    expect(line).toBe(`${program}:4:21`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
