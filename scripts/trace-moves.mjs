/**
 * Counts the files of `dist` through which one call passes, and how often it moves from one file to
 * another: a composite of one node with one effect, the second call of a process, so that nothing
 * is loaded or compiled for the first time.
 *
 *   node scripts/trace-moves.mjs [--list] [directory of a build]
 *
 * Each function of the compiled files is made to note its file when it is entered. The compiler
 * writes a function's head and its opening brace on one line, which is all that is looked for; an
 * arrow function without braces is counted with the function that calls it.
 */
import { existsSync } from 'node:fs'
import { register } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { givenWords } from './words.mjs'

const isOption = (word) => word.startsWith('--')
const words = givenWords('scripts/trace-moves.mjs [--list] [DIRECTORY-OF-A-BUILD]', (words) =>
  words.every((word) => (isOption(word) ? word === '--list' : existsSync(word)))
)
const [build = 'dist'] = words.filter((word) => !isOption(word))
const root = pathToFileURL(`${resolve(build)}/`).href

const notes = { entered: [], isOn: false }
globalThis.traceEntry = (file) => {
  if (notes.isOn) notes.entered.push(file)
}
const hook = `
  const notFunction = /^\\s*(?:if|for|while|switch|catch|else|do|try|return|const|let|with)\\b/
  const prefix = '^\\\\s*(?:(?:export|static|async|get|set)\\\\s+)*'
  const name = '(?:function\\\\s*)?[*]?\\\\s*[#\\\\w$]*\\\\s*'
  const head = new RegExp(prefix + name + '\\\\(.*\\\\)\\\\s*\\\\{$')
  const arrow = /=>\\s*\\{$/
  export async function load(url, context, next) {
    const loaded = await next(url, context)
    if (!url.startsWith(${JSON.stringify(root)}) || loaded.format !== 'module') return loaded
    const file = url.slice(${root.length})
    const lines = String(loaded.source).split('\\n')
    const source = lines
      .map((line, at) => {
        // The call to super must come first.
        const isFunction = (head.test(line) && !notFunction.test(line)) || arrow.test(line)
        if (!isFunction || /^\\s*super\\b/.test(lines[at + 1] ?? '')) return line
        return line + 'traceEntry(' + JSON.stringify(file) + ');'
      })
      .join('\\n')
    return { ...loaded, source }
  }`
register(`data:text/javascript,${encodeURIComponent(hook)}`)
const { createRuntime, defineBlock } = await import(`${root}src/index.js`)
const block = defineBlock({
  name: 'look',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx, input) => ctx.effect('look', { request: input, perform: () => 'seen' })
})
const document = {
  schema: 'tally-composite/1',
  name: 'one',
  version: '1.0.0',
  entry_point: 'look',
  nodes: { look: { block: 'look' } }
}
const tally = await createRuntime({ location: 'memory:', blocks: [block] })
const call = async (id) => (await tally.begin(document, { id, inputs: { n: 1 } }).result).status
await call('first')
notes.isOn = true
const status = await call('second')
notes.isOn = false
await tally.close()
report(notes.entered, status)

function report(entered, status) {
  const files = new Map()
  let moves = 0
  for (const [index, file] of entered.entries()) {
    files.set(file, (files.get(file) ?? 0) + 1)
    if (index > 0 && entered[index - 1] !== file) moves += 1
  }
  if (words.includes('--list')) {
    for (const [file, calls] of [...files].sort(([, a], [, b]) => b - a)) console.log(calls, file)
  }
  console.log(`${status}: ${files.size} files, ${moves} moves, ${entered.length} calls`)
}
