import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtFile, builtModule } from '../../support/built.js'
import { LedgerOnDisk } from '../../support/ledger-on-disk.js'
import { loadedBeside, loadedBy } from '../../support/loaded.js'

/** What a ledger on disk is kept and signed with. */
const store = [
  '@noble/ed25519',
  'abstract-level',
  'classic-level',
  'level',
  'level-supports',
  'level-transcoder',
  'maybe-combine-errors',
  'module-error',
  'node-gyp-build'
]

// Most of what opening a small ledger takes is loading: a half to one millisecond of processor time
// for each file. A room or library that is not needed to open is loaded by what needs it.
const MODULES_OF_IMPORT_MAX = 491
const MODULES_OF_OPENING_MAX = 621
const MODULES_OF_HELP_MAX = 94
const MODULES_OF_VERIFYING_MAX = 577
const MODULES_OF_CLIENT_MAX = 92

describe('what a process loads', () => {
  let ledger: LedgerOnDisk

  beforeAll(async () => {
    ledger = await LedgerOnDisk.create()
    await (await ledger.open()).close()
  })

  afterAll(() => ledger.remove())

  it('imports the library without store, schemas, YAML, expressions and optional packages', () => {
    const { packages, modules } = loadedBy([
      '-e',
      `import(${JSON.stringify(builtModule('index.js'))})`
    ])
    expect(packages).toEqual(['@noble/ed25519', 'xstate'])
    expect(modules).toBeLessThanOrEqual(MODULES_OF_IMPORT_MAX)
  })

  it('opens a ledger with no more than its store, its keys, its charts and its events need', () => {
    const opening = `import(${JSON.stringify(builtModule('index.js'))}).then(async (library) => {
      const tally = await library.createRuntime({ location: ${JSON.stringify(ledger.path)} })
      console.log(tally.status().mode)
      await tally.close()
    })`
    const { stdout, packages, modules } = loadedBy(['-e', opening])
    expect(stdout).toBe('ready\n')
    expect(packages).toEqual([...store, 'eventemitter3', 'xstate'].sort())
    expect(modules).toBeLessThanOrEqual(MODULES_OF_OPENING_MAX)
  })

  it('asks the holder of a ledger without a store, an engine or any package', async () => {
    await using tally = await ledger.open({ serve: true })
    const library = JSON.stringify(builtModule('client/index.js'))
    const asking = `import(${library}).then(async (library) => {
      const client = await library.connect({ location: ${JSON.stringify(ledger.path)} })
      console.log(client.identity)
      await client.close()
    })`
    const { stdout, packages, modules } = await loadedBeside(['-e', asking])
    expect(stdout).toBe(`${tally.identity}\n`)
    expect(packages).toEqual([])
    expect(modules).toBeLessThanOrEqual(MODULES_OF_CLIENT_MAX)
  })

  it('prints the help of the command line without a library beside that of commands', () => {
    const { packages, modules } = loadedBy([builtFile('cli/main.js'), '--help'])
    expect(packages).toEqual(['commander'])
    expect(modules).toBeLessThanOrEqual(MODULES_OF_HELP_MAX)
  })

  it('verifies a ledger from the command line without schemas, YAML and expressions', () => {
    const { packages, modules } = loadedBy([
      builtFile('cli/main.js'),
      'verify',
      '--dir',
      ledger.path
    ])
    expect(packages).toEqual([...store, 'commander', 'xstate'].sort())
    expect(modules).toBeLessThanOrEqual(MODULES_OF_VERIFYING_MAX)
  })
})
