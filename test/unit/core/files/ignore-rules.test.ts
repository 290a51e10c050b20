import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ignoreRules } from '../../../../src/core/files/ignore-rules.js'
import { OutOfSteps } from '../../../../src/core/files/name-pattern.js'
import { cases } from '../../../support/effort.js'

const plenty = () => ({ steps: 1_000_000 })

/** Whether a path is ignored, its directories looked at from the top (as git does). */
function isIgnored(text: string, path: string): boolean {
  const rules = ignoreRules(text)
  const names = path.split('/')
  return names.some((_name, at) => {
    const segments = names.slice(0, at + 1)
    const isDirectory = at < names.length - 1
    return rules.decide(segments, { isDirectory, budget: plenty() }) === true
  })
}

describe('ignoreRules', () => {
  it.each([
    ['*.log', 'a/b.log', true],
    ['/a', 'b/a', false],
    ['a/b', 'c/a/b', false],
    ['build/', 'x/build/y', true],
    ['build/', 'build', false],
    ['a/**/b', 'a/b', true],
    ['a/**/b', 'a/x/y/b', true],
    ['**/b', 'a/b', true],
    ['a/**', 'a', false],
    ['e**/a', 'ea', true],
    ['e**/a', 'ex/y/a', true],
    ['d/e**/**/a', 'd/ea', true],
    ['d/e**\\/a', 'd/ea', false],
    ['?**/a', 'ex/y/a', false],
    ['**\\/a', 'a', false],
    ['a\n!d/e**', 'd/ex/a', false],
    ['a/**\n!a/x', 'a/x/y', true],
    ['*\n!a', 'a', false],
    ['# a', '# a', false],
    ['\\# a', '# a', true],
    ['a ', 'a', true],
    ['a\\ ', 'a ', true],
    ['a\r', 'a', true],
    ['\ufeffa', 'a', true],
    ['[!a]b', 'ab', false],
    ['[[:digit:]]', '7', true],
    ['[a', '[a', false],
    ['a\\', 'a\\', false],
    ['/', 'a', false],
    ['', 'a', false]
  ])('%j and %j: ignored is %j', (text, path, expected) => {
    expect(isIgnored(text, path)).toBe(expected)
  })

  it('takes a number of steps that is bounded by the product of the lengths', () => {
    const rules = ignoreRules(`${'*a'.repeat(100)}b`)
    const segments = ['a'.repeat(255)]
    const budget = { steps: 2 * 201 * 256 }
    expect(rules.decide(segments, { isDirectory: false, budget })).toBeUndefined()
    expect(budget.steps).toBeGreaterThan(0)
    const few = { steps: 100 }
    expect(() => rules.decide(segments, { isDirectory: false, budget: few })).toThrow(OutOfSteps)
  })
})

describe('ignoreRules and git', () => {
  let repository = ''
  const paths = ['a', 'b', 'ab', 'd/a', 'd/ab', 'd/b/a', 'd/b/b.c', 'e/d/a', 'e/d/b/a', 'b.c', '[a']

  // A tree for each text that git is asked about at once: starting it takes longer than asking.
  const trees = Array.from({ length: 25 }, (_, at) => `tree-${at}`)

  beforeAll(async () => {
    repository = await mkdtemp(join(tmpdir(), 'tally-ignore-'))
    execFileSync('git', ['init', '-q'], { cwd: repository })
    for (const path of trees.flatMap((tree) => paths.map((one) => join(tree, one)))) {
      await mkdir(join(repository, path, '..'), { recursive: true })
      await writeFile(join(repository, path), '')
    }
  })
  afterAll(() => rm(repository, { recursive: true, force: true }))

  const word = fc.constantFrom(
    'a',
    'b',
    'd',
    'e',
    '*',
    '**',
    '?',
    '/',
    '/',
    '.c',
    '[ab]',
    '[!a]',
    '\\/',
    '\\a'
  )
  const line = fc
    .tuple(fc.constantFrom('', '', '!'), fc.array(word, { minLength: 1, maxLength: 6 }))
    .map(([mark, words]) => `${mark}${words.join('')}`)
  const file = fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n'))

  const files = fc.array(file, { minLength: trees.length, maxLength: trees.length })

  it('agree about every path of a tree, whatever the patterns', async () => {
    await fc.assert(
      fc.asyncProperty(files, async (texts) => {
        const ignored: string[] = []
        const asked: string[] = []
        for (const [at, tree] of trees.entries()) {
          const text = texts[at] ?? ''
          await writeFile(join(repository, tree, '.gitignore'), text)
          for (const path of paths) {
            asked.push(`${tree}/${path}`)
            if (isIgnored(text, path)) ignored.push(`${tree}/${path}`)
          }
        }
        expect(ignored).toEqual(byGit(repository, asked))
      }),
      { numRuns: cases({ usual: 2, long: 22 }) }
    )
  })
})

function byGit(cwd: string, paths: readonly string[]): readonly string[] {
  const options = { cwd, input: paths.join('\n'), encoding: 'utf8' as const }
  const command = ['-c', 'core.excludesFile=/dev/null', 'check-ignore', '--no-index', '--stdin']
  try {
    return execFileSync('git', command, { ...options, stdio: 'pipe' })
      .trim()
      .split('\n')
  } catch (error) {
    // It ends with 1 when nothing is ignored.
    if (error instanceof Error && 'status' in error && error.status === 1) return []
    throw error
  }
}
