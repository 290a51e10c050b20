import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { pages } from '../support/snippets.js'
import { root } from '../support/source.js'

/** The pages that `npm run site` hands to VitePress; the build itself is not part of the tests. */

interface Item {
  readonly text: string
  readonly link?: string
  readonly items?: readonly Item[]
}

const source = join(root, 'dist/site/source')
const page = (path: string) => readFileSync(join(source, path), 'utf8')
const proseOf = (path: string) =>
  page(path)
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, '')

describe('the site', () => {
  let sidebar: Readonly<Record<string, readonly Item[]>>
  beforeAll(async () => {
    execFileSync(process.execPath, [join(root, 'scripts/site.mjs'), '--prepare'])
    const { default: settings } = await import(
      pathToFileURL(join(source, '.vitepress/config.mjs')).href
    )
    sidebar = settings.themeConfig.sidebar
  })

  const linked = (items: readonly Item[]): readonly string[] =>
    items.flatMap(({ link = '', items: below = [] }) => [link, ...linked(below)])

  it('has every page of docs/ in its contents, and each of its entries is a page', () => {
    const links = new Set(
      linked(Object.values(sidebar).flat()).flatMap((link) => link.split('#')[0] || [])
    )
    const docs = pages().filter((path) => path.startsWith('docs/') && path !== 'docs/index.md')
    expect(docs.filter((path) => !links.has(`/${path}`))).toEqual([])
    expect([...links].filter((link) => !existsSync(join(source, link)))).toEqual([])
  })

  it('shows on page one the chart of a run and the tamper that was caught', () => {
    const pictures = [...page('index.md').matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(
      ([, path]) => path
    )
    expect(pictures).toEqual(['docs/pictures/run-light.png', 'docs/pictures/tampered-light.png'])
    expect(pictures.filter((path) => !existsSync(join(source, path ?? '')))).toEqual([])
  })

  it('shows nothing that only tests read, and no HTML', () => {
    const shown = pages()
      .map((path) => (path === 'README.md' ? 'index.md' : path))
      .filter((path) => /<!--|<picture|<a id|\{\{/.test(proseOf(path)))
    expect(shown).toEqual([])
  })

  it('describes each name of each entry with its doc comment', () => {
    const surface = readFileSync(join(root, 'test/api/tallystick.txt'), 'utf8')
    const names = [...surface.matchAll(/^\/\/ (\w+)$/gm)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThan(100)
    const text = page('api/tallystick.md')
    expect(names.filter((name) => !text.includes(`\n## ${name}\n`))).toEqual([])
    expect(text).toContain('Defines a workflow in code: an async function')
  })
})
