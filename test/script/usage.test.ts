import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isLong } from '../support/effort.js'
import { root } from '../support/source.js'

const scripts = [
  ...['broken', 'count-tests', 'docs', 'pack', 'replay-across', 'trace-moves'],
  'wrap-comments'
]
const programs = [
  'dist/bench/main.js',
  'dist/bench/documents.js',
  ...scripts.map((name) => `scripts/${name}.mjs`)
]

function run(program: string, word: string) {
  const words = [join(root, program), word]
  return spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' })
}

describe('programs of the repository', () => {
  // Those of the bench load all that it measures.
  const taken = programs.filter((_, place) => isLong || place > 0)
  it.each(taken)('%s prints how it is used for an option that it does not have', (program) => {
    const { status, stderr } = run(program, '--no-such-option')
    expect(stderr).toMatch(/^usage: /m)
    expect(stderr).not.toMatch(/^ +at /m)
    expect(status).toBe(2)
  })

  it.each(isLong ? ['dist/bench/main.js', 'scripts/trace-moves.mjs'] : ['scripts/trace-moves.mjs'])(
    '%s prints how it is used for --help',
    (program) => {
      const { status, stdout, stderr } = run(program, '--help')
      expect(stdout + stderr).toMatch(/^usage: \S+ /)
      expect(status).toBe(0)
    }
  )
})
