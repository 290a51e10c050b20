/**
 * Bundles the console's page into the compiled files: script, styles, fonts and their licences.
 * What it bundles is a dependency of development alone, since the bundle is what is shipped.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { root } from './built.mjs'
import { bundledInPage, pageFolder } from './bundled.mjs'

const source = join(root, 'src/console/page')
const target = join(root, pageFolder)

rmSync(target, { recursive: true, force: true })
mkdirSync(join(target, 'fonts'), { recursive: true })
const { metafile } = await build({
  metafile: true,
  entryPoints: { app: join(source, 'main.tsx') },
  outdir: target,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  tsconfigRaw: {}
})
for (const path of Object.keys(metafile.inputs)) {
  const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]
  if (name !== undefined && !bundledInPage.includes(name)) {
    throw new Error(`the page has code of ${name}, which scripts/bundled.mjs does not name`)
  }
}
await build({
  entryPoints: [join(source, 'app.css')],
  outdir: target,
  bundle: true,
  minify: true,
  target: 'es2022',
  external: ['/fonts/*']
})
copyFileSync(join(source, 'index.html'), join(target, 'index.html'))
const fonts = {
  inter: '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
  'jetbrains-mono':
    '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2'
}
for (const [name, file] of Object.entries(fonts)) {
  copyFileSync(join(root, 'node_modules', file), join(target, 'fonts', `${name}.woff2`))
}
const licences = bundledInPage.map((name) => {
  const folder = join(root, 'node_modules', name)
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const text = readFileSync(join(folder, 'LICENSE'), 'utf8').trim()
  return `${name} ${version}, ${license}\n\n${text}\n`
})
writeFileSync(join(target, 'licences.txt'), licences.join(`\n${'-'.repeat(80)}\n\n`))
