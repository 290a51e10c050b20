/** Removes the compiled files, so that a package never holds what has no source any more. */
import { rmSync } from 'node:fs'

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true })
