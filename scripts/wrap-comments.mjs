/**
 * Wraps comment lines over 100 columns, which the formatter leaves alone: the words that do not fit
 * move to the front of the next line of the same paragraph, or onto a line of their own.
 * `npm run format` runs it on everything, or name files.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './built.mjs'
import { givenWords } from './words.mjs'

const COLUMNS_MAX = 100
const folders = ['src', 'machines', 'test', 'bench', 'examples', 'scripts']
const named = givenWords('scripts/wrap-comments.mjs [FILE...]', (words) => words.every(existsSync))

for (const path of named.length > 0 ? named : folders.flatMap(sources)) {
  const text = readFileSync(path, 'utf8')
  const wrapped = wrap(text.split('\n')).join('\n')
  if (wrapped !== text) {
    writeFileSync(path, wrapped)
    console.log(`wrapped ${path}`)
  }
}

function sources(folder) {
  try {
    return readdirSync(join(root, folder), { recursive: true })
      .filter((name) => /\.(ts|mjs)$/.test(name))
      .map((name) => join(root, folder, name))
  } catch {
    return []
  }
}

function wrap(lines) {
  const open = [...lines]
  const done = []
  let inExample = false
  for (let line = open.shift(); line !== undefined; line = open.shift()) {
    // The lines of an example are code, and wrapping would change what they say.
    inExample = /^\s*\* @example/.test(line) || (inExample && !line.includes('*/'))
    const comment = /^(\s*)(\/\/ |\* |\/\*\* )((?:[-\d.]+ )?)(.*)$/.exec(line)
    if (comment === null || inExample || [...line].length <= COLUMNS_MAX) {
      done.push(line)
      continue
    }
    const [, indent, mark, bullet, text] = comment
    if (mark === '/** ') {
      open.unshift(`${indent}/**`, `${indent} * ${bullet}${text.replace(/ \*\/$/, '')}`)
      if (text.endsWith(' */')) open.splice(2, 0, `${indent} */`)
      continue
    }
    const at = line.lastIndexOf(' ', COLUMNS_MAX)
    if (at <= indent.length + mark.length + bullet.length) {
      done.push(line)
      continue
    }
    done.push(line.slice(0, at))
    const front = `${indent}${mark}${' '.repeat(bullet.length)}`
    const rest = line.slice(at + 1)
    const next = open[0] ?? ''
    const nextText = next.slice(front.length)
    const continues = next.startsWith(front) && /^[^\s@\-|`#{/*]/.test(nextText)
    const isItem = /^(\d+\.|[A-Z]\d+) /.test(nextText)
    if (continues && !isItem) open[0] = `${front}${rest} ${nextText}`
    else open.unshift(`${front}${rest}`)
  }
  return done
}
