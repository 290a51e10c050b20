import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  answerCommand,
  cancelCommand,
  commandLine,
  diagnoseCommand,
  noteCommand,
  queueCommand,
  scheduleCommand,
  showCommand
} from '../../../../src/console/page/pure/commands.js'
import { builtFile } from '../../../support/built.js'

/** Commands that the page offers to copy are commands of `tally`. */

const wait = { token: 'abc', digest: '0'.repeat(64), reason: 'decision', request: {} } as never
const actions = ['approve', 'deny', 'resume', 'retry', 'patch', 'skip', 'abort']
const commands = [
  showCommand('june'),
  diagnoseCommand('june'),
  noteCommand,
  queueCommand('invoices'),
  scheduleCommand('nightly', true),
  scheduleCommand('nightly', false),
  cancelCommand('june', ''),
  cancelCommand('june', 'not wanted'),
  ...actions.map((action) => answerCommand('june', wait, action, '1'))
]

const { perform } = (await import(builtFile('cli/program.js'))) as Pick<
  typeof import('../../../../src/cli/program.js'),
  'perform'
>

/** What the command line says to words, of a ledger that is not there. */
async function said(words: readonly string[]): Promise<string> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const text = Promise.all([stdout, stderr].map((stream) => stream.toArray()))
  const place = { stdout, stderr, environment: {}, cwd: '/nowhere' }
  await perform([...words, '--dir', '/nowhere'], place as never)
  stdout.end()
  stderr.end()
  return (await text).flat().join('')
}

describe('a command to copy', () => {
  it.each(commands)('is one that the command line takes: %s', async (...words) => {
    expect(await said(words)).not.toContain('cli.usage')
  })

  it('is told from one that is none', async () => {
    expect(await said(['decide', 'june', 'abc'])).toContain('cli.usage')
    expect(await said(['approve', 'june', 'abc', '--reason', 'x'])).toContain('cli.usage')
  })

  it('asks for a value where none was given, and gives the one that was', () => {
    expect(answerCommand('june', wait, 'patch')).toContain('JSON')
    expect(answerCommand('june', wait, 'resume', '{"a": 1}')).toContain('{"a": 1}')
    expect(answerCommand('june', wait, 'retry', '1')).not.toContain('--value')
  })

  it('names its ledger, and each of its words is one word of a shell', () => {
    expect(commandLine(['show', 'june'], '/a/b')).toBe('tally show june --dir /a/b')
    expect(commandLine(['show', 'june'], 'memory:')).toBe('tally show june')
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1 })),
        fc.string({ minLength: 1 }),
        (words, at) => {
          expect(wordsOf(commandLine(words, at))).toEqual(['tally', ...words, '--dir', at])
        }
      )
    )
  })
})

/** Words as a POSIX shell reads them, of lines that quote by apostrophes and backslashes alone. */
function wordsOf(line: string): readonly string[] {
  const words: string[] = []
  let word = ''
  for (let index = 0; index < line.length; index += 1) {
    const letter = line[index]
    if (letter === ' ') {
      words.push(word)
      word = ''
    } else if (letter === "'") {
      const end = line.indexOf("'", index + 1)
      word += line.slice(index + 1, end)
      index = end
    } else if (letter === '\\') {
      word += line[index + 1]
      index += 1
    } else word += letter
  }
  return [...words, word]
}
