import { spawnSync } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtFile } from './built.js'

const preload = new URL('./keep-directories.mjs', import.meta.url).href

/** Runs a built example with its ledgers below `folder`, and gives their snapshots. */
export async function exampleLedgers(name: string, folder: string): Promise<readonly string[]> {
  const main = fileURLToPath(new URL(`../../dist/examples/${name}/main.js`, import.meta.url))
  run(['--import', preload, main], folder)
  const files: string[] = []
  for (const entry of await readdir(folder, { recursive: true })) {
    if (!entry.endsWith('marker.json')) continue
    const file = join(folder, `${files.length}.snapshot`)
    const dir = join(folder, entry, '..')
    run([builtFile('cli/main.js'), 'export', file, '--dir', dir], folder)
    files.push(file)
  }
  return files
}

function run(args: readonly string[], folder: string): void {
  const env = { ...process.env, TMPDIR: folder }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`)
}
