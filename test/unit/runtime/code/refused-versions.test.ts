import { describe, expect, it } from 'vitest'
import { type Block, defineBlock } from '../../../../src/code/index.js'
import type { WiredRuntime } from '../../../../src/runtime/index.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../../../support/ledger-on-disk.js'
import {
  counterPackage,
  type PackageFolder,
  packagesForAllTests
} from '../../../support/packages.js'

/** What `refuse_version` refuses while a run of some version is quarantined (K10). */

let disk: LedgerOnDisk
let folder: PackageFolder
packagesForAllTests((made) => {
  folder = made
})
ledgerForEachTest((made) => {
  disk = made
})

function block(name: string, version: string, intents: readonly string[]): Block {
  const run = () => ({ by: `${name}@${version}` })
  return defineBlock({ name, version, sideEffects: 'none', intents: [...intents], run })
}

/** `stamp` serves `count.up` exactly, `wide` all of `count`; the package serves it too. */
const blocks = [
  block('stamp', '1.0.0', ['count.up']),
  block('stamp', '1.1.0', ['count.up']),
  block('wide', '1.0.0', ['count'])
]

type Intent = Parameters<WiredRuntime['intent']>[0]

async function opened(version: string): Promise<WiredRuntime> {
  const directory = await folder.write({ ...counterPackage, version })
  const tally = await disk.open({ blocks, packages: [directory], onQuarantine: 'refuse_version' })
  const capabilities = ['storage.read', 'storage.write']
  await tally.intent({ action: 'system.grant', payload: { package: 'counter', capabilities } })
  return tally
}

/** A document of one step that does an intent. */
function step(intent: Intent) {
  const work = { block: 'intent', input: { lit: { payload: {}, ...intent } } }
  const head = { schema: 'tally-composite/1', name: 'one', version: '1.0.0', entry_point: 'first' }
  return { ...head, nodes: { first: work }, transitions: {} }
}

function direct(name: string) {
  const head = { schema: 'tally-composite/1', name: 'one', version: '1.0.0', entry_point: 'first' }
  return { ...head, nodes: { first: { block: name } }, transitions: {} }
}

/** Whether an intent is refused: alone, and as the step of a document. */
async function isRefused(tally: WiredRuntime, intent: Intent): Promise<boolean> {
  const reply = await tally.intent(intent)
  const alone = reply.type === 'error' && reply.reason === 'version_quarantined'
  expect(await isRefusedDocument(tally, step(intent))).toBe(alone)
  if (!alone) expect(reply.type).toBe('dapp')
  return alone
}

async function isRefusedDocument(tally: WiredRuntime, document: object): Promise<boolean> {
  try {
    await tally.begin(document as never).result
    return false
  } catch (error) {
    expect(error).toMatchObject({ code: 'run.version_quarantined' })
    return true
  }
}

const providers = [undefined, 'stamp', 'stamp@1.0.0', 'stamp@1.1.0', 'wide', 'counter'] as const

/** By what is quarantined: the providers of `count.up` with which it is refused. */
const refusals: Readonly<Record<string, readonly (string | undefined)[]>> = {
  'stamp@1.0.0': ['stamp@1.0.0'],
  'stamp@1.1.0': [undefined, 'stamp', 'stamp@1.1.0'],
  'wide@1.0.0': ['wide'],
  'counter@1.0.0': ['counter'],
  'counter@1.1.0': []
}

async function quarantine(tally: WiredRuntime, provider: string): Promise<void> {
  const payload = { run: 'r1', receipt: null, provider, field: 'result' }
  const reply = await tally.intent({ action: 'system.quarantine', payload })
  expect(reply).toMatchObject({ type: 'dapp' })
}

describe.each(Object.entries(refusals))('K10: with %s quarantined', (quarantined, refused) => {
  it('an intent is refused where that would do it, and not with another provider', async () => {
    const tally = await opened('1.0.0')
    await quarantine(tally, quarantined)
    const found: (string | undefined)[] = []
    for (const provider of providers) {
      const intent = { action: 'count.up', ...(provider === undefined ? {} : { provider }) }
      if (await isRefused(tally, intent)) found.push(provider)
    }
    expect(found).toEqual(refused)
    await tally.release('r1')
    expect(await isRefused(tally, { action: 'count.up' })).toBe(false)
  })
})

describe('K10: with a version quarantined', () => {
  it('a preference decides who is refused', async () => {
    const tally = await opened('1.0.0')
    await quarantine(tally, 'stamp@1.1.0')
    const prefer = (provider: string | null) =>
      tally.intent({ action: 'system.prefer', payload: { subject: 'count.up', provider } })
    await prefer('counter')
    expect(await isRefused(tally, { action: 'count.up' })).toBe(false)
    await prefer(null)
    expect(await isRefused(tally, { action: 'count.up' })).toBe(true)
  })

  it('a package is refused in that version alone', async () => {
    const first = await opened('1.0.0')
    await quarantine(first, 'counter@1.0.0')
    const intent = { action: 'count.up', provider: 'counter' }
    expect(await isRefused(first, intent)).toBe(true)
    await first.intent({ action: 'package.uninstall', payload: { id: 'counter' } })
    await disk.close()
    const later = await opened('1.1.0')
    expect(later.quarantine.marks()).toHaveLength(1)
    expect(await isRefused(later, intent)).toBe(false)
  })

  it('a document is refused for the version that its name leads to, or that it names', async () => {
    const tally = await opened('1.0.0')
    await quarantine(tally, 'stamp@1.0.0')
    const names = ['stamp', 'stamp@1.0.0', 'stamp@1.1.0', 'wide']
    const refused = await Promise.all(names.map((name) => isRefusedDocument(tally, direct(name))))
    expect(refused).toEqual([false, true, false, false])
  })
})
