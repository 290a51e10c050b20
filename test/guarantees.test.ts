import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPage, repository } from './support/snippets.js'

/** Every rule of docs/guarantees.md names tests that exist, or says that it is not built. */
const rows = readPage('docs/guarantees.md')
  .split('\n')
  .map((line) => /^\| ([LDBKWCPAG]\d+) \| (.+) \| (.+) \|$/.exec(line))
  .filter((match) => match !== null)
  .map(([, number = '', , tests = '']) => ({ number, tests }))

const named = /`(test\/[^`]+\.test\.ts)`: "([^"]+)"/g

function numbers(letter: string, last: number): readonly string[] {
  return Array.from({ length: last }, (_, index) => `${letter}${index + 1}`)
}

const promised = Object.entries({
  L: 17,
  D: 10,
  B: 14,
  C: 4,
  K: 16,
  P: 5,
  W: 15,
  A: 8,
  G: 6
}).flatMap(([letter, last]) => numbers(letter, last))

const built = rows.filter(({ tests }) => !tests.startsWith('not built'))

/** A fault that `npm run broken` plants, and the test that has to notice. */
interface Fault {
  readonly fault: string
  readonly file: string
  readonly text: string
  readonly by: string
  readonly test: string
  readonly title: string
}

/** Faults by the number of what they break, one file for each letter. */
const faults = filesBelow(join(repository, 'test', 'broken')).flatMap((file) =>
  Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, Fault[]>>)
)

/** The numbers before the colon of a title: `L6, L7: ...`, also in a description of a group. */
function titled(): ReadonlySet<string> {
  const title = /['"`](?=[LDBCKPWAG]\d)((?:[A-Z]\d+, )*[A-Z]\d+):/g
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
    expect(built.filter(({ number }) => !proven.has(number))).toEqual([])
  })

  it.each(built)('$number names tests that exist', ({ tests }) => {
    const found = [...tests.matchAll(named)]
    expect(found.length).toBeGreaterThan(0)
    const missing = found
      .map(([, file = '', name = '']) => ({ file: join(repository, file), name }))
      .filter(({ file, name }) => !existsSync(file) || !readFileSync(file, 'utf8').includes(name))
    expect(missing).toEqual([])
  })
})

describe('test/broken', () => {
  it('has a fault for each invariant that is built', () => {
    const broken = new Set(faults.map(([number]) => number))
    expect(built.filter(({ number }) => !broken.has(number))).toEqual([])
  })

  it.each(faults)('%s is broken in one place, by a test of its row', (number, list) => {
    const tests = rows.filter((row) => row.number === number).map((row) => row.tests)
    for (const { fault, file, text, by, test, title } of list) {
      expect.soft(readFileSync(join(repository, file), 'utf8').split(text), fault).toHaveLength(2)
      expect.soft(by, fault).not.toBe(text)
      expect.soft(tests.join(), fault).toContain(`\`${test}\`: "${title}"`)
    }
  })
})

describe('docs/index.md', () => {
  it.each(['decisions', 'spec'])('lists every page of docs/%s', (folder) => {
    const index = readPage('docs/index.md')
    const files = readdirSync(join(repository, 'docs', folder))
    expect(files.filter((file) => !index.includes(`(${folder}/${file})`))).toEqual([])
  })
})
