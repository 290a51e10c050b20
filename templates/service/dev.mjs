// `npm run dev`: compiles when a file changes, and starts the service again.
import { spawn, spawnSync } from 'node:child_process'
import { watch } from 'node:fs'

const compiler = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json']
const service = spawn(process.execPath, ['--watch', 'dist/main.js'], { stdio: 'inherit' })
const watcher = watch('src', { recursive: true }, () => {
  spawnSync(process.execPath, compiler, { stdio: 'inherit' })
})
process.once('SIGTERM', () => {
  watcher.close()
  service.kill()
})
