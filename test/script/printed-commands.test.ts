import { mkdir, rename, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Ended, Project } from '../support/project.js'

/**
 * What a command prints to be typed next works as it is pasted, wherever ledger, identity and
 * configuration are.
 */
let project: Project
/** As every command of these tests is given them: none is at its default place. */
let given: readonly string[]
let elsewhere: string

const LEDGER = 'the ledger'
const CONFIG = 'settings/mine.ts'

beforeAll(async () => {
  project = await Project.create()
  await mkdir(project.path('settings'))
  await rename(project.path('tally.config.ts'), project.path(CONFIG))
  elsewhere = project.path('elsewhere')
  await mkdir(elsewhere)
  const dir = ['--dir', `../${LEDGER}`]
  const made = await typed(['init', '--insecure-plaintext-key', '--json', ...dir])
  expect(made.code).toBe(0)
  const [{ identity } = {}] = made.documents
  given = [...dir, '--identity', String(identity)]
})
afterAll(() => project.remove())

function typed(words: readonly string[]): Promise<Ended> {
  return project.tally(words, { cwd: elsewhere })
}

const config = ['--config', `../${CONFIG}`]

/** Commands in what was printed: in quotes inside a sentence, or to the end of their line. */
function commandsIn({ stdout, stderr }: Ended): readonly string[] {
  return `${stdout}\n${stderr}`.split('\n').flatMap((line) => {
    const quoted = [...line.matchAll(/["`](tally [^"`]+)["`]/g)].map(([, command = '']) => command)
    if (quoted.length > 0) return quoted
    const [, command] = /(?:^| {2}|: )(tally [a-z].*)$/.exec(line) ?? []
    return command === undefined ? [] : [command]
  })
}

/** The words of a command as a shell reads them, with something for each word to be filled in. */
function wordsOf(command: string): readonly string[] {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain
  )
  const filled: Readonly<Record<string, string>> = { JSON: '{}', FILE: 'x', KEYFILE: 'x' }
  return words.slice(1).map((word = '') => filled[word] ?? word.replace(/=JSON$/, '={}'))
}

/** What says that a command was not meant for this ledger, or not made for being typed. */
const misplaced = /^(?:cli\.usage|ledger\.not_found|ledger\.identity_missing)$/

async function expectPasted(ended: Ended, least: number): Promise<readonly string[]> {
  const commands = commandsIn(ended)
  expect(commands.length, `${ended.stdout}${ended.stderr}`).toBeGreaterThanOrEqual(least)
  for (const command of commands) {
    const words = wordsOf(command)
    const isAboutLedger = !['help', 'lint', 'init'].includes(words[0] ?? '')
    if (isAboutLedger) expect(words, command).toEqual(expect.arrayContaining([...given]))
    const pasted = await typed([...words, '--json'])
    const code = pasted.documents.find(({ $type }) => $type === 'error')?.['code'] ?? 'none'
    expect(code, `${command}: ${pasted.stdout}`).not.toMatch(misplaced)
  }
  return commands
}

describe('commands that are printed', () => {
  it.each([
    ['a confirmation', 'confirm.yaml'],
    ['a question', 'ask.yaml']
  ])('of a run that waits for %s', async (_, document) => {
    const words = ['run', `../${document}`, '--id', document, ...given, ...config]
    const waiting = await typed(words)
    const commands = await expectPasted(waiting, 1)
    for (const command of commands) expect(command).toContain(`--config ../${CONFIG}`)
    expect((await typed(['show', document, ...given])).stdout).toContain(`${document} done`)
  })

  it('by show and diagnose, of a run that waits', async () => {
    await typed(['run', '../ask.yaml', '--id', 'asked', ...given, ...config])
    await expectPasted(await typed(['diagnose', 'asked', ...given, ...config]), 1)
    await typed(['run', '../ask.yaml', '--id', 'shown', ...given, ...config])
    await expectPasted(await typed(['show', 'shown', ...given]), 1)
  })

  it('by diagnose, of a run that failed', async () => {
    await typed(['run', '../fail.yaml', '--id', 'failed', ...given, ...config])
    const commands = await expectPasted(await typed(['diagnose', 'failed', ...given]), 1)
    expect(commands.join()).toContain('tally show failed --journal')
  })

  it.each([
    ['a run that is not there', ['show', 'nobody']],
    ['a receipt that is not there', ['show', '999']],
    ['a run whose answer is not awaited', ['approve', 'done']]
  ])('in an error about %s', async (_, words) => {
    await typed(['run', '../greet.yaml', '--id', 'done', ...given, ...config])
    const ended = await typed([...words, ...given])
    expect(ended.code).not.toBe(0)
    await expectPasted(ended, 1)
  })

  it('by doctor, of a ledger that was damaged', async () => {
    await writeFile(`${project.path(LEDGER)}/integrity/${given.at(-1)}.json`, '{}\n')
    const found = await typed(['doctor', ...given])
    expect(found.code).not.toBe(0)
    await expectPasted(found, 1)
  })
})
