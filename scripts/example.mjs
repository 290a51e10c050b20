/** `npm run example NAME [-- arguments]`: builds if needed and runs examples/NAME/main.ts. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildIfStale, root } from './built.mjs'

const examples = existsSync(join(root, 'examples'))
  ? readdirSync(join(root, 'examples')).filter((name) =>
      existsSync(join(root, 'examples', name, 'main.ts'))
    )
  : []
const [name, ...rest] = process.argv.slice(2)

if (!examples.includes(name)) {
  if (name !== undefined) console.error(`There is no example "${name}".`)
  console.error(`Usage: npm run example NAME\nExamples: ${examples.sort().join(', ')}`)
  process.exitCode = 2
} else {
  buildIfStale()
  const main = join(root, 'dist', 'examples', name, 'main.js')
  const { status } = spawnSync(process.execPath, [main, ...rest], { cwd: root, stdio: 'inherit' })
  process.exitCode = status ?? 1
}
