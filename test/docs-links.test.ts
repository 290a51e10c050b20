import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pages, readPage, repository } from './support/snippets.js'

/** Links between pages, as GitHub and the site (`npm run site`) follow them. */

const others = ['SECURITY.md', 'CONTRIBUTING.md', 'AGENTS.md', 'CHANGELOG.md']
const examples = readdirSync(join(repository, 'examples'))
  .map((name) => `examples/${name}/README.md`)
  .filter((path) => existsSync(join(repository, path)))
const all = [...pages(), ...others, ...examples, 'templates/service/README.md']

interface Link {
  readonly page: string
  /** Path from the root. */
  readonly target: string
  readonly anchor: string | undefined
}

const proseOf = (page: string) => readPage(page).replace(/```[\s\S]*?```/g, '')

function linksOf(page: string): readonly Link[] {
  return [...proseOf(page).matchAll(/\]\(([^)#\s]*)(?:#([^)\s]*))?\)/g)]
    .map(([, path = '', anchor]) => ({ page, path, anchor }))
    .filter(({ path }) => !/^[a-z]+:/.test(path))
    .map(({ path, anchor }) => ({
      page,
      target: path === '' ? page : posix.join(dirname(page), path),
      anchor
    }))
}

/** Names of the headings of a page, as GitHub makes them, and of places that have one. */
function anchorsOf(page: string): ReadonlySet<string> {
  const placed = [...proseOf(page).matchAll(/<a id="([\w-]+)">/g)].map(([, id = '']) => id)
  const found = new Set(placed)
  for (const [, heading = ''] of proseOf(page).matchAll(/^#{1,6} (.+)$/gm)) {
    const plain = heading.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').toLowerCase()
    const slug = plain.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-')
    let name = slug
    for (let time = 1; found.has(name); time += 1) name = `${slug}-${time}`
    found.add(name)
  }
  return found
}

describe('links of the pages', () => {
  const links = all.flatMap(linksOf)
  const named = ({ page, target, anchor }: Link) => `${page}: ${target}#${anchor ?? ''}`

  it('lead to files that exist', () => {
    expect(links.length).toBeGreaterThan(500)
    const dead = links.filter(({ target }) => !existsSync(join(repository, target)))
    expect(dead.map(named)).toEqual([])
  })

  it('lead to headings that exist', () => {
    const anchors = new Map(all.map((page) => [page, anchorsOf(page)]))
    const dead = links.filter(
      ({ target, anchor }) =>
        anchor !== undefined && target.endsWith('.md') && !anchors.get(target)?.has(anchor)
    )
    expect(dead.map(named)).toEqual([])
  })

  it('reach every page from docs/index.md', () => {
    const reached = new Set(['docs/index.md'])
    for (const page of reached) {
      // Only indexes pass on: a page that one other page happens to name is not found.
      if (basename(page) !== 'index.md') continue
      for (const { target } of linksOf(page)) reached.add(target)
    }
    expect(pages().filter((page) => !reached.has(page))).toEqual([])
  })
})
