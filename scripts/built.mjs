/** Builds when the compiled files are older than a source, so that scripts never run old code. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

export function buildIfStale() {
  const built = newest('dist', ['.js'])
  if (built !== undefined && built >= newestSource()) return
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
    cwd: root,
    stdio: ['ignore', process.stderr, 'inherit'],
    shell: process.platform === 'win32'
  })
  if (status !== 0) process.exit(status ?? 1)
}

function newestSource() {
  const times = ['src', 'machines', 'examples', 'bench'].map((folder) =>
    newest(folder, ['.ts', '.tsx', '.css'])
  )
  return Math.max(...times.filter((time) => time !== undefined))
}

function newest(folder, endings) {
  const absolute = join(root, folder)
  if (!existsSync(absolute)) return undefined
  const times = readdirSync(absolute, { recursive: true })
    .filter((name) => endings.some((ending) => name.endsWith(ending)))
    .map((name) => statSync(join(absolute, name)).mtimeMs)
  return times.length === 0 ? undefined : Math.max(...times)
}
