import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** URL of a compiled module, for tests that start another process; `path` is relative to `src`. */
export function builtModule(path: string): string {
  const url = new URL(`../../dist/src/${path}`, import.meta.url)
  if (!existsSync(url)) throw new Error(`${path} is not built: run "npm run build" first`)
  return url.href
}

/** File path of a compiled module. */
export function builtFile(path: string): string {
  return fileURLToPath(builtModule(path))
}
