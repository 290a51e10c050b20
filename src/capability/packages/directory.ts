import { realpath } from 'node:fs/promises'
import { basename, relative } from 'node:path'
import {
  DocumentWork,
  type FileReadProblem,
  inSlices,
  limits,
  readRegularFile
} from '../../core/index.js'
import { type Refusal, readingManifest } from '../manifest/manifest.js'
import { bundleDirectory } from './bundle.js'
import { type CapabilityPackage, makePackage } from './package.js'
import { resolveInside } from './paths.js'

export type LoadedPackage =
  | { readonly ok: true; readonly package: CapabilityPackage }
  | { readonly ok: false; readonly refusals: readonly Refusal[] }

/** A module that was packed already; it is taken as it is. */
const packedFile = 'bundle.mjs'
const entryFiles = ['index.ts', 'index.mts', 'index.js', 'index.mjs']

/**
 * Packs a directory: `manifest.json`, and either `bundle.mjs` (one module, taken as it is) or
 * `index.ts|mts|js|mjs`, which is bundled. Each file is read once, and what was read is what is
 * hashed and run. A package that cannot be used says why; nothing is thrown for bad content.
 * Throws `capability.bundler_missing` when there is something to bundle and no bundler.
 */
export async function packDirectory(
  directory: string,
  options: { readonly known?: ReadonlySet<string> } = {}
): Promise<LoadedPackage> {
  let root: string
  try {
    root = await realpath(directory)
  } catch {
    return refused({ code: 'missing_file', path: [], message: 'there is no such directory' })
  }
  const text = await readInside(root, 'manifest.json', limits.PACKAGE_MANIFEST_BYTES_MAX)
  if (!text.ok) return refused(text.refusal)
  const named = { ...options, fallbackId: basename(root) }
  const parsed = await inSlices(readingManifest(text.text, named), new DocumentWork())
  if (!parsed.ok) return parsed
  const module = await readModule(root)
  if (!module.ok) return module
  return { ok: true, package: makePackage({ manifest: parsed.manifest, bundle: module.bundle }) }
}

async function readModule(
  root: string
): Promise<
  | { readonly ok: true; readonly bundle: string }
  | { readonly ok: false; readonly refusals: readonly Refusal[] }
> {
  const packed = await readInside(root, packedFile, limits.PACKAGE_BUNDLE_BYTES_MAX)
  if (packed.ok) return { ok: true, bundle: packed.text }
  if (packed.refusal.code !== 'missing_file') return refused(packed.refusal)
  for (const name of entryFiles) {
    const entry = await resolveInside(root, name)
    if (entry.ok) {
      const bundled = await bundleDirectory(root, relative(root, entry.path))
      const bytes = bundled.ok ? Buffer.byteLength(bundled.bundle) : 0
      return bytes > limits.PACKAGE_BUNDLE_BYTES_MAX ? refused(tooLarge('the module')) : bundled
    }
    if (entry.refusal.code !== 'missing_file') return refused(entry.refusal)
  }
  const names = [packedFile, ...entryFiles].join(', ')
  return refused({ code: 'missing_file', path: [], message: `none of ${names} is there` })
}

/** The text of one file, read once through one handle and never beyond the limit. */
async function readInside(
  root: string,
  name: string,
  bytesMax: number
): Promise<
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly refusal: Refusal }
> {
  const inside = await resolveInside(root, name)
  if (!inside.ok) return inside
  const read = await readRegularFile(inside.path, { bytesMax, isReal: true })
  if (!read.ok) return { ok: false, refusal: refusalOf(name, read.problem) }
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(read.bytes) }
  } catch {
    const message = `${name} is not UTF-8 text`
    return { ok: false, refusal: { code: 'malformed_json', path: [name], message } }
  }
}

/** One package that cannot be read is refused like any other; the rest is not affected (K3). */
function refusalOf(name: string, problem: FileReadProblem): Refusal {
  if (problem === 'too_many_bytes') return tooLarge(name)
  const message = `${name} cannot be read: ${problem}`
  return { code: 'unreadable', path: [name], message }
}

function tooLarge(name: string): Refusal {
  return { code: 'too_large', path: [name], message: `${name} is too large` }
}

function refused(refusal: Refusal): { readonly ok: false; readonly refusals: readonly Refusal[] } {
  return { ok: false, refusals: [refusal] }
}
