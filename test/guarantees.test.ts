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

describe('docs/guarantees.md', () => {
  it('has a row for every invariant', () => {
    const known = new Set(rows.map(({ number }) => number))
    const promised = { L: 11, D: 9, B: 9, C: 4, K: 13, W: 12, A: 6 }
    const all = Object.entries(promised).flatMap(([letter, last]) => numbers(letter, last))
    expect(all.filter((number) => !known.has(number))).toEqual([])
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
