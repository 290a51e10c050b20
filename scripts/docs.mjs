/**
 * Writes docs/errors.md from the error catalogue, docs/limits.md from the limits, and
 * docs/llms.txt from docs/index.md.
 * `npm run docs` builds first; `--check` writes nothing and fails when a page is not current.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { errorCatalogue, limits } from '../dist/src/core/index.js'
import { givenWords } from './words.mjs'

const words = givenWords('scripts/docs.mjs [--check]', (given) =>
  given.every((word) => word === '--check')
)
const at = (path) => new URL(`../${path}`, import.meta.url)
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

function errorsPage() {
  const entries = Object.entries(errorCatalogue).sort(([left], [right]) => (left < right ? -1 : 1))
  const rooms = [...new Set(entries.map(([code]) => code.split('.')[0]))]
  const sections = rooms.map((room) => {
    const ofRoom = entries.filter(([code]) => code.startsWith(`${room}.`))
    const rows = ofRoom.map(
      ([code, { message, fix }]) => `| \`${code}\` | ${cell(message)} | ${cell(fix)} |`
    )
    const head = [`## ${room}`, '', '| code | message | what to do |', '|---|---|---|']
    return [...head, ...rows, ''].join('\n')
  })
  return `# Errors

Generated from \`src/core/errors/codes/\` by \`npm run docs\`; do not edit.

Every error thrown on purpose is a \`TallyError\` with a stable \`code\`, the \`context\` that fills
the \`{placeholders}\`, and a \`fix\`. Codes are never renamed and never reused. Recognise one with
\`isTallyError(error, code)\`, which narrows \`context\`. Failures of a block are not thrown: they
are responses with a \`reason\`.

${sections.join('\n')}`
}

/** A doc comment covers the limits that follow it up to the next blank line or comment. */
function limitsPage() {
  const source = readFileSync(at('src/core/limits.ts'), 'utf8')
  const documented = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n((?:[^\n/]+\n)+)/g
  const texts = new Map(
    [...source.matchAll(documented)].flatMap(([, comment, constants]) =>
      [...constants.matchAll(/^export const ([A-Z0-9_]+) =/gm)].map(([, name]) => [
        name,
        comment
          .replace(/^\s*\* ?/gm, '')
          .replace(/\s+/g, ' ')
          .trim()
      ])
    )
  )
  const rows = Object.entries(limits)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => {
      const text = texts.get(name)
      if (text === undefined) throw new Error(`${name} has no doc comment in src/core/limits.ts`)
      return `| \`${name}\` | ${value.toLocaleString('en-US')} | ${cell(text)} |`
    })
  return `# Limits

Generated from \`src/core/limits.ts\` by \`npm run docs\`; do not edit.

Every loop, queue, size and depth is bounded by one of these. The unit is the last word of the name
or stands in the text; going over one gives \`core.limit_exceeded\` or the error of the part that
enforces it.

| limit | value | what it bounds |
|---|---|---|
${rows.join('\n')}
`
}

/** The pages as coding agents look for them: what it is, then links with what each is for. */
function agentsPage() {
  const index = readFileSync(at('docs/index.md'), 'utf8')
  const heads = { '# Documentation': 'Pages', '## Formats': 'Formats' }
  const lines = index.split('\n').flatMap((line) => {
    const head = heads[line]
    if (head !== undefined) return ['', `## ${head}`, '']
    const [, name, target, about] = /^\| \[([^\]]+)\]\(([^)]+)\) \| (.+) \|$/.exec(line) ?? []
    if (target === undefined || target.startsWith('decisions/')) return []
    return [`- [${name}](${target}): ${about}`, ...pagesBeside(target)]
  })
  return `# tallystick

> ${JSON.parse(readFileSync(at('package.json'), 'utf8')).description}

Embedded in Node services, without a server:
\`import { createRuntime, defineBlock, defineWorkflow } from 'tallystick'\`. Code touches anything
outside only through \`ctx\`; failures are data; every committed step leaves a signed receipt, which
\`tally verify --replay\` executes again.
Generated from \`docs/index.md\` by \`npm run docs\`; do not edit.
${lines.join('\n')}
`
}

/** What a page that is itself an index lies beside: `recipes/index.md`. */
function pagesBeside(target) {
  const [, folder] = /^(\w+)\/index\.md$/.exec(target) ?? []
  if (folder === undefined) return []
  return readdirSync(at(`docs/${folder}`))
    .filter((name) => name.endsWith('.md') && name !== 'index.md')
    .map((name) => {
      const [, title] = /^# (.+)$/m.exec(readFileSync(at(`docs/${folder}/${name}`), 'utf8'))
      return `  - [${title}](${folder}/${name})`
    })
}

const pages = {
  'docs/errors.md': errorsPage(),
  'docs/limits.md': limitsPage(),
  'docs/llms.txt': agentsPage()
}

function read(path) {
  try {
    return readFileSync(at(path), 'utf8')
  } catch {
    return undefined
  }
}

const stale = Object.entries(pages).filter(([path, text]) => read(path) !== text)
if (words.includes('--check')) {
  for (const [path] of stale) console.error(`${path} is not current: run "npm run docs"`)
  process.exitCode = stale.length === 0 ? 0 : 1
} else {
  for (const [path, text] of stale) {
    writeFileSync(at(path), text)
    console.log(`wrote ${path}`)
  }
}
