import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/**
 * Starts one of the writers of this folder. `onLine` is told each line that it prints, and how to
 * kill it. Resolves when it has ended.
 */
export function startWriter(
  writer: 'writer.ts' | 'ledger-writer.ts' | 'runtime-worker.mjs',
  options: readonly string[],
  onLine: (line: string, kill: () => void) => void
): Promise<void> {
  const path = join(import.meta.dirname, writer)
  const loader = path.endsWith('.ts') ? ['--import', 'jiti/register'] : []
  const child = spawn(process.execPath, [...loader, path, ...options], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const kill = () => void child.kill('SIGKILL')
  createInterface(child.stdout).on('line', (line) => onLine(line, kill))
  return new Promise((resolve) => child.on('close', () => resolve()))
}
