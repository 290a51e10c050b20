import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readDocument } from '../../core/index.js'
import type { TallyConfig } from '../../runtime/index.js'

/** Loads a `tally.config` as commands do: TypeScript and JavaScript by jiti, or JSON. */
export async function openConfig(file: string | URL): Promise<TallyConfig> {
  const path = typeof file === 'string' ? file : fileURLToPath(file)
  if (extname(path) === '.json') {
    return readDocument(await readFile(path, 'utf8')) as unknown as TallyConfig
  }
  const { createJiti } = await import('jiti')
  return createJiti(import.meta.url, { fsCache: false }).import(path, { default: true })
}
