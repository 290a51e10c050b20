import { spawn } from 'node:child_process'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '../../..')

/** Writers as single files, made once: compiling one at each start costs more than its life. */
const bundles = new Map<string, Promise<string>>()

function bundleOf(writer: string): Promise<string> {
  const known = bundles.get(writer)
  if (known !== undefined) return known
  const path = join(root, `node_modules/.cache/crash-store/${writer}.mjs`)
  const outfile = `${path}.${process.pid}`
  const made = build({
    entryPoints: [join(import.meta.dirname, writer)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'error'
  })
    // In one step: another run of the tests may be starting the same writer.
    .then(() => rename(outfile, path))
    .then(() => path)
  bundles.set(writer, made)
  return made
}

type Writer =
  | 'writer.ts'
  | 'writers-at-once.ts'
  | 'ledger-writer.ts'
  | 'runtime-worker.mjs'
  | 'rotate-worker.mjs'
  | 'killed-rotation.mjs'
  | 'import-worker.mjs'
  | '../quarantine-kill/worker.mjs'
  | '../archive-kill/worker.mjs'
  | '../erase-kill/worker.mjs'

/**
 * Starts one of the writers of this folder. `onLine` gets each line that it prints, and how to
 * kill it. Resolves when it has ended; rejects with what `onLine` has thrown.
 */
export async function startWriter(
  writer: Writer,
  options: readonly string[],
  onLine: (line: string, kill: () => void) => void,
  env: NodeJS.ProcessEnv = process.env
): Promise<void> {
  const isCompiled = writer.endsWith('.mjs')
  const path = isCompiled ? join(import.meta.dirname, writer) : await bundleOf(writer)
  const child = spawn(process.execPath, [path, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env
  })
  const kill = () => void child.kill('SIGKILL')
  let failure: { readonly error: unknown } | undefined
  createInterface(child.stdout).on('line', (line) => {
    try {
      onLine(line, kill)
    } catch (error) {
      failure ??= { error }
      kill()
    }
  })
  return new Promise((resolve, reject) => {
    child.on('close', () => (failure === undefined ? resolve() : reject(failure.error)))
  })
}
