/**
 * Builds the documentation as a static site with search, into dist/site/built: `npm run site`.
 *
 * The site has the layout of the repository, so that links between pages stay as they are. Its
 * first page is the README, its contents are those of docs/index.md, and `api/` is made from the
 * doc comments of the built declarations. VitePress is installed beside the other caches, in the
 * version below, and is no dependency of the package (0361). `--prepare` writes the pages alone.
 */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { basename, dirname, join, posix } from 'node:path'
import { createJiti } from 'jiti'
import { root } from './built.mjs'
import { givenWords } from './words.mjs'

const VITEPRESS = '1.6.4'
const source = join(root, 'dist/site/source')
const tools = join(root, 'node_modules/.cache/site')
const read = (path) => readFileSync(join(root, path), 'utf8')
const words = givenWords('scripts/site.mjs [--prepare] [--base=/PATH/]', (given) =>
  given.every((word) => word === '--prepare' || word.startsWith('--base='))
)

const pages = pagesOfSite()
const { documentedSurface } = await createJiti(import.meta.url).import('../test/support/api.ts')
rmSync(source, { recursive: true, force: true })
for (const page of pages) write(placeOf(page), prepared(page))
for (const folder of ['docs/pictures', 'docs/charts']) {
  cpSync(join(root, folder), join(source, folder), { recursive: true })
}
const references = writeReferences()
writeConfiguration()
if (!words.includes('--prepare')) build()

function pagesOfSite() {
  const below = (folder) => readdirSync(join(root, folder), { recursive: true })
  const docs = below('docs').map((name) => `docs/${name.replaceAll('\\', '/')}`)
  const examples = readdirSync(join(root, 'examples')).map((name) => `examples/${name}/README.md`)
  const others = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'AGENTS.md', 'CHANGELOG.md']
  return [...docs, ...examples, ...others, 'templates/service/README.md'].filter(
    (path) => path.endsWith('.md') && existsSync(join(root, path))
  )
}

function placeOf(page) {
  return page === 'README.md' ? 'index.md' : page
}

function write(path, text) {
  mkdirSync(dirname(join(source, path)), { recursive: true })
  writeFileSync(join(source, path), text)
}

/** A page without what only tests read, and with links that lead to pages of the site. */
function prepared(page) {
  const parts = read(page).split(/^(```[\s\S]*?^```$)/m)
  return parts.map((part, place) => (place % 2 === 1 ? part : prose(page, part))).join('')
}

function prose(page, text) {
  return text
    .replace(/^<!-- .* -->\n/gm, '')
    .replace(/<picture>[\s\S]*?<img alt="([^"]*)" src="([^"]*)">[\s\S]*?<\/picture>/g, '![$1]($2)')
    .replace(/<a id="[\w-]+"><\/a>/g, '')
    .replace(/\{\{/g, (braces, at, whole) => (isInCode(whole, at) ? braces : '&#123;&#123;'))
    .replace(/(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)/g, (link, picture, label, path, anchor) => {
      if (picture !== '' || /^[a-z]+:/.test(path)) return link
      const target = posix.join(posix.dirname(page), path)
      // Files and folders of the repository are not on the site.
      if (!pages.includes(target)) return label
      const place = posix.relative(posix.dirname(placeOf(page)), placeOf(target))
      return `[${label}](${place.startsWith('.') ? place : `./${place}`}${anchor ?? ''})`
    })
}

/** Whether a place stands in code between backticks of its line. */
function isInCode(text, at) {
  const line = text.slice(text.lastIndexOf('\n', at) + 1, at)
  return (line.match(/`/g) ?? []).length % 2 === 1
}

/** One page for each entry point: its names with their doc comments and declarations. */
function writeReferences() {
  const { exports } = JSON.parse(read('package.json'))
  const typed = Object.entries(exports).filter(([, target]) => target.types !== undefined)
  return typed.map(([subpath, { types }]) => {
    const entry = subpath.replace('.', 'tallystick')
    const names = documentedSurface(types).map(
      ({ name, text, declarations }) =>
        `## ${name}\n\n${described(text)}\n\n\`\`\`ts\n${declarations.join('\n')}\n\`\`\`\n`
    )
    const path = `api/${entry.replaceAll('/', '-')}.md`
    write(
      path,
      `# ${entry}\n\nMade from the doc comments of its declarations.\n\n${names.join('\n')}`
    )
    return { text: entry, link: `/${path}` }
  })
}

function described(comment) {
  const [text = '', ...examples] = comment.split(/^@example\s*/m)
  const plain = text.replace(/\{@link ([^}]+)\}/g, '`$1`').replace(/^@(\w+) /gm, '\n$1: ')
  const fenced = examples.map((code) => `\`\`\`ts\n${code.trim()}\n\`\`\``)
  return [plain.trim(), ...fenced].join('\n\n')
}

/** The groups of docs/index.md, with what lies beside an index below it. */
function sidebar() {
  const groups = []
  for (const line of read('docs/index.md').split('\n')) {
    const [, head] = /^#+ (.+)$/.exec(line) ?? []
    if (head !== undefined) groups.push({ text: head, collapsed: groups.length > 0, items: [] })
    const [, name, path, about] = /^\| \[([^\]]+)\]\(([^)]+)\) \| (.+) \|$/.exec(line) ?? []
    if (path === undefined) continue
    const page = posix.join('docs', path)
    const text = head === undefined && path.startsWith('decisions/') ? `${name} ${about}` : name
    const items = basename(page) === 'index.md' ? pagesBeside(page) : undefined
    const item = { text: text.replace(/\.md$/, ''), link: `/${placeOf(page)}` }
    groups.at(-1)?.items.push(items === undefined ? item : { ...item, items, collapsed: true })
  }
  // In the HTML of each page: the decisions would be most of it, so only they list each other.
  const decisions = groups.filter(({ text }) => text === 'Decisions')
  const others = groups.filter((group) => !decisions.includes(group))
  const toDecisions = { text: 'Decisions', link: '/docs/index.md#decisions' }
  const api = { text: 'API', collapsed: true, items: references }
  return { '/docs/decisions/': decisions, '/': [...others, api, toDecisions] }
}

function pagesBeside(index) {
  const folder = posix.dirname(index)
  return pages
    .filter((page) => posix.dirname(page) === folder && page !== index)
    .map((page) => ({ text: /^# (.+)$/m.exec(read(page))?.[1] ?? page, link: `/${page}` }))
}

function writeConfiguration() {
  const settings = {
    title: 'tallystick',
    description: JSON.parse(read('package.json')).description,
    outDir: '../built',
    cacheDir: '../cache',
    ignoreDeadLinks: 'localhostLinks',
    themeConfig: {
      search: { provider: 'local' },
      nav: [
        { text: 'Tour', link: '/docs/tour' },
        { text: 'Recipes', link: '/docs/recipes/index' },
        { text: 'Contents', link: '/docs/index' },
        { text: 'API', link: '/api/tallystick' }
      ],
      sidebar: sidebar(),
      outline: [2, 3]
    }
  }
  // Headings have the names that GitHub gives them; a page is Markdown without HTML.
  const slug =
    "(text) => text.toLowerCase().replace(/[^\\p{L}\\p{N}\\s_-]/gu, '').replace(/\\s/g, '-')"
  write(
    '.vitepress/config.mjs',
    `export default {
  ...${JSON.stringify(settings, null, 2)},
  markdown: { html: false, anchor: { slugify: ${slug} } }
}\n`
  )
}

function build() {
  const program = join(tools, 'node_modules/vitepress/bin/vitepress.js')
  if (!existsSync(program)) {
    mkdirSync(tools, { recursive: true })
    const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', tools]
    run('npm', ['install', ...options, `vitepress@${VITEPRESS}`])
  }
  const base = words.filter((word) => word.startsWith('--base='))
  run(process.execPath, [program, 'build', source, ...base])
}

function run(program, args) {
  const shell = program === 'npm' && process.platform === 'win32'
  const { status } = spawnSync(program, args, { stdio: 'inherit', shell })
  if (status !== 0) process.exit(status ?? 1)
}
