import { execFileSync } from 'node:child_process'
import { mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { transform } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Project } from '../support/project.js'
import { snippetsOf } from '../support/snippets.js'
import { root } from '../support/source.js'

/** Not a dependency. `.ci/run` installs it, and names its library here. */
const webpack = process.env['WEBPACK']

const page = 'docs/recipes/bundling.md'
const snippetAt = (begins: (text: string) => boolean): string => {
  const found = snippetsOf(page).find(({ text }) => begins(text))
  if (found === undefined) throw new Error(`${page} has no such code`)
  return found.text
}

const buildingWith = (library: string) => `
import webpack from ${JSON.stringify(pathToFileURL(library).href)}
import config from './webpack.config.js'
webpack({ ...config, context: process.cwd() }, (error, stats) => {
  if (error || stats.hasErrors()) throw error ?? new Error(stats.toString())
})
`

let project: Project
beforeAll(async () => {
  project = await Project.create()
  for (const folder of ['node_modules', 'src', 'ledger']) await mkdir(project.path(folder))
  await symlink(root, project.path('node_modules/tallystick'))
  for (const name of ['zod', 'fastify']) {
    await symlink(join(root, 'node_modules', name), project.path(join('node_modules', name)))
  }
  const service = snippetAt((text) => text.startsWith("import Fastify from 'fastify'"))
  const { code } = await transform(service, { loader: 'ts', format: 'esm', target: 'node20' })
  await project.write('package.json', JSON.stringify({ type: 'module' }))
  await project.write('src/main.js', code)
  const config = snippetAt((text) => text.startsWith('// webpack.config.js'))
  await project.write('webpack.config.js', config)
})
afterAll(() => project.remove())

const run = (file: string) =>
  execFileSync(process.execPath, [file], { cwd: project.folder, encoding: 'utf8' }).trim()

describe(`the configuration of webpack in ${page}`, () => {
  it('leaves the package and its entries outside, and nothing else', async () => {
    const { default: config } = await import(pathToFileURL(project.path('webpack.config.js')).href)
    const isOutside = (name: string) => config.externals.some((one: RegExp) => one.test(name))
    expect(['tallystick', 'tallystick/client'].map(isOutside)).toEqual([true, true])
    expect(['fastify', 'zod', 'tallystick-own', './tallystick'].some(isOutside)).toBe(false)
  })

  it.each(webpack === undefined ? [] : [webpack])(
    'makes one file of a service, which runs beside the package: %s',
    async (library) => {
      await project.write('build.js', buildingWith(library))
      run('build.js')
      const bundle = await readFile(project.path('dist/main.mjs'), 'utf8')
      expect(bundle).toMatch(/from ?"tallystick"/)
      expect(bundle).not.toMatch(/from ?"(?:fastify|zod)"/)
      expect(run('dist/main.mjs')).toBe('hello ada true')
    }
  )
})
