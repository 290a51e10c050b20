import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const folder = new URL('../../../src/cli/', import.meta.url)

/** Files of the command line that open a ledger with a key by themselves, and what they may. */
const opening: Readonly<Record<string, string>> = {
  'dev/hold.ts': 'holds the ledger, as a service does',
  'frame/session.ts': 'resumes nothing',
  'init.ts': 'makes a ledger, in which nothing runs',
  'lint.ts': 'in memory'
}

it('a command drives the run that it names alone: each opens the ledger by its session', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const sources = files.filter((file) => file.endsWith('.ts'))
  const texts = new Map(sources.map((file) => [file, readFileSync(new URL(file, folder), 'utf8')]))
  const found = [...texts]
    .filter(([, text]) => text.includes('createRuntime('))
    .map(([file]) => file)
  expect(found.sort()).toEqual(Object.keys(opening).sort())
  const session = texts.get('frame/session.ts') ?? ''
  expect(session.split('createRuntime(').length).toBe(2)
  expect(session).toContain('createRuntime({ ...options, resume: false,')
})
