/**
 * Makes the ledger of a process that was killed right after it had archived a change of the state:
 * `node make-killed.mjs PACKAGE`, where PACKAGE is the directory of a built tallystick. Until
 * 2026-11-27 pages of the state were written when a ledger was closed, and archiving removed the
 * commits from which those that were missing would have been made. `killed.json.gz` has the files
 * of its directory in base64. It was made once, with such a version, and is kept.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'

const here = fileURLToPath(new URL('.', import.meta.url))
const [target = '.', location] = process.argv.slice(2)

if (location === undefined) {
  const directory = mkdtempSync(join(tmpdir(), 'tally-killed-'))
  const made = join(directory, 'ledger')
  spawnSync(process.execPath, [fileURLToPath(import.meta.url), target, made], { stdio: 'inherit' })
  const files = {}
  for (const entry of readdirSync(made, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    files[relative(made, path)] = readFileSync(path).toString('base64')
  }
  writeFileSync(join(here, 'killed.json.gz'), gzipSync(JSON.stringify(files)))
  rmSync(directory, { recursive: true })
} else {
  const library = await import(pathToFileURL(resolve(target, 'dist/src/index.js')).href)
  const { blocks, documentOf } = await import('./code.mjs').then((code) => code.codeOf(library))
  const options = { location, create: 'if-absent', insecurePlaintextKey: true, serve: false }
  const tally = await library.createRuntime({ ...options, blocks })
  for (const text of ['one', 'two', 'three']) {
    await tally.begin(documentOf('note'), { id: text, inputs: { text } }).result
  }
  const path = join(here, 'killed.archive.gz')
  await tally.archive({ path, before: Date.now() + 60_000 })
  process.kill(process.pid, 'SIGKILL')
}
