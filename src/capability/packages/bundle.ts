import { dirname, extname, relative } from 'node:path'
import type { Message, OnResolveArgs, OnResolveResult, PluginBuild } from 'esbuild'
import { capabilityError, limits } from '../../core/index.js'
import type { Refusal } from '../manifest/manifest.js'
import { realInside, specifierProblem } from './paths.js'
import { leadsOutside, settingsProblem } from './special-files.js'

export type Bundled =
  | { readonly ok: true; readonly bundle: string }
  | { readonly ok: false; readonly refusals: readonly Refusal[] }

const ESBUILD_VERSION = '0.28.2'
const sourceEndings = ['.ts', '.mts', '.js', '.mjs', '.json']

/**
 * Makes one ES module without imports of a package's sources, with esbuild (an optional peer).
 * Every file must lie inside the directory, which is a real path. Throws
 * `capability.bundler_missing`.
 */
export async function bundleDirectory(directory: string, entry: string): Promise<Bundled> {
  const { build } = await loadEsbuild()
  const problem = await settingsProblem(directory)
  if (problem !== undefined) return { ok: false, refusals: [problem] }
  try {
    const { metafile, outputFiles } = await build({
      entryPoints: [entry],
      absWorkingDir: directory,
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      target: 'es2023',
      charset: 'utf8',
      legalComments: 'none',
      // Settings of the machine that packs would change the hash.
      tsconfigRaw: '{}',
      sourcemap: false,
      logLevel: 'silent',
      plugins: [{ name: 'inside', setup: (plugin) => keepInside(plugin, directory) }]
    })
    const [file] = outputFiles
    const imports = Object.values(metafile.outputs).flatMap((output) => output.imports)
    if (file === undefined || imports.length > 0) {
      return failed([`an import is left: ${imports[0]?.path ?? entry}`])
    }
    if (Object.keys(metafile.inputs).length > limits.PACKAGE_FILES_MAX) {
      return failed([`more than ${limits.PACKAGE_FILES_MAX} files`])
    }
    return { ok: true, bundle: file.text }
  } catch (error) {
    const errors: readonly Message[] | undefined = (error as { errors?: Message[] }).errors
    if (errors === undefined) throw error
    return failed(errors.map(messageOf))
  }
}

async function loadEsbuild(): Promise<typeof import('esbuild')> {
  try {
    return await import('esbuild')
  } catch (cause) {
    throw capabilityError('capability.bundler_missing', { version: ESBUILD_VERSION }, { cause })
  }
}

function keepInside(plugin: PluginBuild, directory: string): void {
  const seen = Symbol('resolved by the bundler')
  plugin.onResolve({ filter: /.*/ }, async (args): Promise<OnResolveResult | undefined> => {
    if (args.pluginData === seen || args.kind === 'entry-point') return undefined
    const problem = specifierProblem(args.path)
    if (problem !== undefined) return refusal(args, problem)
    // Before the bundler looks: it would read what lies there.
    if (await leadsOutside(directory, args)) return refusal(args, 'is not part of the package')
    const found = await plugin.resolve(args.path, {
      resolveDir: args.resolveDir,
      importer: args.importer,
      kind: args.kind,
      pluginData: seen
    })
    if (found.errors.length > 0) return { errors: found.errors }
    if (found.external) return refusal(args, 'is not part of the package')
    const inside = await realInside(directory, found.path)
    if (!inside.ok) return refusal(args, 'lies outside the package')
    if (!sourceEndings.includes(extname(inside.path))) return refusal(args, 'is no source file')
    return { path: inside.path }
  })
}

function refusal({ path, importer }: OnResolveArgs, problem: string): OnResolveResult {
  const from = importer === '' ? '' : ` (imported by ${relative(dirname(importer), importer)})`
  return { errors: [{ text: `${JSON.stringify(path)} ${problem}${from}` }] }
}

function messageOf({ text, location }: Message): string {
  return location === null ? text : `${location.file}:${location.line}: ${text}`
}

function failed(messages: readonly string[]): Bundled {
  const refusals = messages.map(
    (message): Refusal => ({ code: 'bundle_failed', path: [], message })
  )
  return { ok: false, refusals }
}
