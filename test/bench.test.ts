import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Group } from '../bench/row.js'
import { readPage } from './support/snippets.js'

const folder = fileURLToPath(new URL('../bench/groups', import.meta.url))
const built = new URL('../dist/bench/groups/index.js', import.meta.url)
const { groups } = (await import(built.href)) as { readonly groups: Record<string, Group> }
const rows = Object.values(groups).flatMap((group) => group.rows)

it('a bench runs every group that is written, by the name of its module', async () => {
  const written = readdirSync(folder).flatMap((file) =>
    [...readFileSync(`${folder}/${file}`, 'utf8').matchAll(/^export const \w+: Group = /gm)].map(
      () => file.replace('.ts', '')
    )
  )
  expect(Object.keys(groups).sort()).toEqual(written.sort())
  for (const [name, group] of Object.entries(groups)) {
    const module: object = await import(new URL(`./${name}.js`, built).href)
    expect(Object.values(module)).toContain(group)
  }
})

it('a command of docs/performance.md names rows that there are', () => {
  const commands = [...readPage('docs/performance.md').matchAll(/npm run bench -- ([^`\n|]+)/g)]
  const words = commands.flatMap(([, words = '']) => words.trim().split(/\s+/))
  const named = words.filter((word) => /^[a-z][\w-]*\.[\w.-]*$/.test(word))
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((word) => !rows.some((row) => row.includes(word)))).toEqual([])
})
