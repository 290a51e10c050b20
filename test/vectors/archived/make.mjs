/**
 * Makes the ledger with archived history: `node make.mjs PACKAGE`, where PACKAGE is the directory
 * of a built tallystick. `ledger.json.gz` has the files of its directory in base64. It was made
 * once, and is kept: later versions must open, verify and continue it.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'

const here = fileURLToPath(new URL('.', import.meta.url))
const library = await import(pathToFileURL(resolve(process.argv[2] ?? '.', 'dist/src/index.js')).href)
const { blocks, documentOf } = await import('./code.mjs').then((code) => code.codeOf(library))

const directory = mkdtempSync(join(tmpdir(), 'tally-archived-'))
const location = join(directory, 'ledger')
const tally = await library.createRuntime({
  location,
  create: 'if-absent',
  insecurePlaintextKey: true,
  serve: false,
  blocks
})
const note = (text) => tally.start(documentOf('note'), { id: text.slice(0, 9), inputs: { text } })
const ended = async (text) => {
  const { id } = await note(text)
  return (await tally.attach(id)).result
}
const archive = (name) =>
  tally.archive({ path: join(here, `${name}.archive.gz`), before: Date.now() + 60_000 })

await ended('one')
const open = tally.begin(documentOf('ask'), { id: 'open' })
for await (const event of open) if (event.type === 'run.parked') break
await ended('l'.repeat(70_000))
await tally.intent({ action: 'system.key.rotate' })
await ended('two')
await archive('1')
await ended('three')
await archive('2')
await ended('four')
await tally.close()

const files = {}
for (const entry of readdirSync(location, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue
  const path = join(entry.parentPath, entry.name)
  files[relative(location, path)] = readFileSync(path).toString('base64')
}
writeFileSync(join(here, 'ledger.json.gz'), gzipSync(JSON.stringify(files)))
rmSync(directory, { recursive: true })
