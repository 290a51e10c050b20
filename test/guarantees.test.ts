import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPage, repository } from './support/snippets.js'

/** Every rule of docs/guarantees.md names tests that exist, or says that it has none. */
const rows = readPage('docs/guarantees.md')
  .split('\n')
  .map((line) => /^\| ([LDBKWCPA]\d+) \| (.+) \| (.+) \|$/.exec(line))
  .filter((match) => match !== null)
  .map(([, number = '', , tests = '']) => ({ number, tests }))

const named = /`(test\/[^`]+\.test\.ts)`: "([^"]+)"/g

function numbers(letter: string, last: number): readonly string[] {
  return Array.from({ length: last }, (_, index) => `${letter}${index + 1}`)
}

/** What is built; P4 (sync between peers) is not. */
const promised = [
  ...Object.entries({ L: 15, D: 10, B: 11, C: 4, K: 16, P: 5, W: 12, A: 8 }).flatMap(
    ([letter, last]) => numbers(letter, last)
  ),
  'W14'
].filter((number) => number !== 'P4')

/** The numbers before the colon of a title: `L6, L7: ...`, also in a description of a group. */
function titled(): ReadonlySet<string> {
  const title = /['"`](?=[LDBCKPWA]\d)((?:[A-Z]\d+, )*[A-Z]\d+):/g
  const found = filesBelow(join(repository, 'test'))
    .filter((file) => file.endsWith('.test.ts'))
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(title)])
  return new Set(found.flatMap(([, numbers = '']) => numbers.split(', ')))
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) =>
    join(folder, name)
  )
}

describe('docs/guarantees.md', () => {
  it('has a row for every invariant', () => {
    const known = new Set(rows.map(({ number }) => number))
    expect(promised.filter((number) => !known.has(number))).toEqual([])
    expect([...known].filter((number) => !promised.includes(number))).toEqual([])
  })

  it('has no row for an invariant whose number stands in the title of no test', () => {
    const proven = titled()
    expect(promised.filter((number) => !proven.has(number))).toEqual([])
  })

  it.each(rows)('$number names tests that exist, or says that it has none', ({ tests }) => {
    const found = [...tests.matchAll(named)]
    expect(found.length > 0 || tests.includes('no test')).toBe(true)
    const missing = found
      .map(([, file = '', name = '']) => ({ file: join(repository, file), name }))
      .filter(({ file, name }) => !existsSync(file) || !readFileSync(file, 'utf8').includes(name))
    expect(missing).toEqual([])
  })
})

describe('docs/index.md', () => {
  it.each(['decisions', 'spec'])('lists every page of docs/%s', (folder) => {
    const index = readPage('docs/index.md')
    const files = readdirSync(join(repository, 'docs', folder))
    expect(files.filter((file) => !index.includes(`(${folder}/${file})`))).toEqual([])
  })
})
