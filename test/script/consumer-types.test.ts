import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isLong } from '../support/effort.js'
import { type PackedPackage, packPackage } from '../support/packed-package.js'
import { root } from '../support/source.js'

/** What a program brings that is written for Node. */
const ofNode = ['@types/node', 'undici-types']

/** Compilers that may read the types: ours, and the oldest, whose place `.ci/run` names. */
const ours = join(root, 'node_modules/typescript/bin/tsc')
const oldest = process.env['OLDEST_TYPESCRIPT']
const compilers = [ours, ...(oldest === undefined ? [] : [oldest])]

it('names the types of each entry that has code', () => {
  const { exports }: Pick<PackedPackage['manifest'], 'exports'> = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8')
  )
  const targets = Object.values(exports).filter((target) => typeof target !== 'string')
  expect(targets.length).toBeGreaterThan(5)
  for (const target of targets) expect(target).toHaveProperty('types')
})

// Each compiler reads a program of thousands of files.
if (isLong) {
  describe('a program that imports the package and checks the types of libraries, too', () => {
    let packed: PackedPackage
    let application: string

    beforeAll(() => {
      packed = packPackage()
      const { dependencies } = packed.manifest
      application = packed.installWith([...Object.keys(dependencies), ...ofNode])
      writeFileSync(join(application, 'package.json'), JSON.stringify({ type: 'module' }))
    })

    afterAll(() => packed.remove())

    const entries = () =>
      Object.entries(packed.manifest.exports)
        .filter(([, target]) => typeof target !== 'string')
        .map(([entry]) => entry.replace('.', 'tallystick'))

    /** What the compiler says of a program that takes everything from these entries. */
    function compiled(compiler: string, specifiers: readonly string[]): string {
      const lines = specifiers.map(
        (specifier, place) => `export * as entry${place} from '${specifier}'`
      )
      writeFileSync(join(application, 'program.ts'), lines.join('\n'))
      const options = {
        target: 'es2022',
        lib: ['es2022'],
        module: 'nodenext',
        types: ['node'],
        strict: true,
        skipLibCheck: false,
        noEmit: true,
        preserveSymlinks: true
      }
      const project = { compilerOptions: options, files: ['program.ts'] }
      writeFileSync(join(application, 'tsconfig.json'), JSON.stringify(project))
      const args = [compiler, '-p', application, '--listFiles']
      return spawnSync(process.execPath, args, { cwd: application, encoding: 'utf8' }).stdout
    }

    for (const compiler of compilers) {
      const age = compiler === ours ? 'newest' : 'oldest'
      it(`compiles without any optional package, by the ${age} compiler`, () => {
        const without = entries().filter((entry) => entry !== 'tallystick/evm')
        const said = compiled(compiler, without).split('\n')
        expect(said.filter((line) => line.includes('error TS'))).toEqual([])
      }, 300_000)
    }

    it('takes the types of no optional package in by the root, where all are installed', () => {
      const optional = Object.keys(packed.manifest.peerDependencies)
      for (const name of optional) {
        const link = join(application, 'node_modules', name)
        mkdirSync(dirname(link), { recursive: true })
        symlinkSync(join(root, 'node_modules', name), link)
      }
      const files = compiled(ours, ['tallystick']).split('\n')
      expect(files.length).toBeGreaterThan(100)
      const isOptional = (file: string) =>
        optional.some((name) => file.includes(`node_modules/${name}/`))
      expect(files.filter(isOptional)).toEqual([])
    })
  })
}
