import { chmod, cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { holdStore } from '../../src/ledger/index.js'
import { withOtherCode } from '../support/derived.js'
import { documentOf, Project } from '../support/project.js'

interface Verified {
  readonly code: number | null
  /** What was not checked for want of a key. */
  readonly notChecked: readonly string[]
  readonly field: string | undefined
}

const PASSPHRASE = 'correct horse'
const environment = { TALLY_PASSPHRASE: PASSPHRASE }
const lock = 'code of the integrity lock: it needs the key'

let project: Project
beforeAll(async () => {
  project = await Project.create()
  for (const [dir, args, options] of [
    ['plain', ['--insecure-plaintext-key'], {}],
    ['sealed', [], { environment }]
  ] as const) {
    expect((await project.tally(['init', '--dir', dir, ...args], options)).code).toBe(0)
    const run = await project.tally(['run', 'greet.yaml', '--dir', dir, '--id', 'r'], options)
    expect([run.code, run.stderr]).toEqual([0, expect.anything()])
  }
})
afterAll(() => project.remove())

async function verified(dir: string, given: Record<string, string> = {}): Promise<Verified> {
  const ended = await project.tally(['verify', '--json', '--dir', dir], { environment: given })
  const { notChecked, failure } = documentOf(ended, 'verification') as {
    readonly notChecked: readonly string[]
    readonly failure?: { readonly field: string }
  }
  const unchecked = notChecked.filter((one) => one.includes('needs the'))
  return { code: ended.code, notChecked: unchecked, field: failure?.field }
}

async function copyOf(dir: string, name: string): Promise<string> {
  await cp(project.path(dir), project.path(name), { recursive: true })
  return name
}

async function keyFileOf(dir: string): Promise<string> {
  const { identities } = JSON.parse(await readFile(project.path(join(dir, 'marker.json')), 'utf8'))
  return project.path(join(dir, 'keys', `${identities[0]}.json`))
}

/** Gives the first derived record a code that is not by the key. */
async function forgeCode(dir: string): Promise<void> {
  const held = await holdStore(project.path(dir))
  const range = { gte: `${held.location.marker.identities[0]}/index/`, lt: '~' }
  for await (const [key, value] of held.store.entries(range)) {
    await held.store.commit([{ puts: [[key, withOtherCode(value, key)]], deletes: [] }])
    break
  }
  await held.close()
}

describe('tally verify', () => {
  it('L12: checks codes of derived records and of the lock with a key that it can read', async () => {
    expect(await verified('plain')).toEqual({ code: 0, notChecked: [], field: undefined })
    expect(await verified('sealed', environment)).toMatchObject({ code: 0, notChecked: [] })
    const dir = await copyOf('plain', 'forged')
    await forgeCode(dir)
    expect(await verified(dir)).toMatchObject({ code: 3, field: 'derived.code' })
    expect(await project.tally(['replay', '--dir', project.path(dir)])).toMatchObject({ code: 3 })
  })

  it('K10: names a lock whose code is not by the key', async () => {
    const dir = await copyOf('plain', 'lock')
    const path = project.path(join(dir, 'integrity'))
    const name = `${(await keyFileOf(dir)).split('/').at(-1)}`
    const text = await readFile(join(path, name), 'utf8')
    const forged = text.replace(/"mac":"(.)/, (_, digit) => `"mac":"${digit === '0' ? 1 : 0}`)
    await writeFile(join(path, name), forged)
    expect((await verified(dir)).code).toBe(3)
    await rm(await keyFileOf(dir))
    expect(await verified(dir)).toMatchObject({ code: 0, notChecked: [lock] })
  })

  it.each([
    ['there is none', (path: string) => rm(path)],
    ['others could read it', (path: string) => chmod(path, 0o644)],
    ['it cannot be parsed', (path: string) => writeFile(path, '{}', { mode: 0o600 })]
  ])('L12: says what it has not checked where the key file is no use: %s', async (name, spoil) => {
    const dir = await copyOf('plain', `without-${name.length}`)
    await forgeCode(dir)
    await spoil(await keyFileOf(dir))
    expect(await verified(dir)).toMatchObject({ code: 0, notChecked: [lock] })
  })

  it.each([
    ['no', {}],
    ['a wrong', { TALLY_PASSPHRASE: 'battery staple' }]
  ])('L12: says what it has not checked with %s passphrase for a sealed key', async (_, given) => {
    expect(await verified('sealed', given)).toMatchObject({ code: 0, notChecked: [lock] })
  })
})
