import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import { isTallyError, type Json, type JsonObject } from '../../../../src/core/index.js'
import { preparePublished } from '../../../../src/runtime/gate/published.js'
import type { WiredRuntime } from '../../../../src/runtime/index.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../../../support/ledger-on-disk.js'

/** K14: documents that the owner has published, with the versions of then. */

let disk: LedgerOnDisk
ledgerForEachTest((made) => {
  disk = made
})

const rate = (version: string) =>
  defineBlock({ name: 'rate', version, sideEffects: 'none', run: () => ({ version }) })

function opened(...versions: readonly string[]): Promise<WiredRuntime> {
  return disk.open({ blocks: versions.map(rate) })
}

const document = {
  schema: 'tally-composite/1',
  name: 'rates',
  version: '1',
  entry_point: 'one',
  nodes: { one: { block: 'rate' } }
}

const { signal } = new AbortController()

async function run(tally: WiredRuntime, id: string, published = 'rates'): Promise<Json> {
  const params = { published, id, agent: 'mcp' }
  try {
    let last: Json = null
    const events = tally.service({ method: 'run', params, signal }) as AsyncIterable<Json>
    for await (const event of events) last = event
    return ((last as JsonObject)['response'] as JsonObject)['data'] ?? null
  } catch (error) {
    if (isTallyError(error)) return `${error.code}: ${error.message}`
    throw error
  }
}

function publish(tally: WiredRuntime, more: JsonObject = {}) {
  return tally.intent({ action: 'system.publish', payload: { document, ...more } })
}

function grant(tally: WiredRuntime, subject: string) {
  const principal = { kind: 'agent', id: 'mcp' }
  return tally.intent({ action: 'system.grant', payload: { principal, subject } })
}

describe('a published document', () => {
  it('K14: runs with the versions that it was published with, which a later one does not change', async () => {
    const first = await opened('1.0.0')
    expect(await run(first, 'r0')).toContain('runtime.not_published')
    expect(await publish(first)).toMatchObject({ type: 'dapp', name: 'rates', replaced: null })
    expect(await run(first, 'r1')).toContain('run.not_permitted')
    await grant(first, 'rate')
    expect(await run(first, 'r1')).toEqual({ version: '1.0.0' })
    await first.close()

    const both = await opened('1.0.0', '2.0.0')
    expect(await run(both, 'r2')).toEqual({ version: '1.0.0' })
    const listed = await both.intent({ action: 'system.published' })
    expect(listed).toMatchObject({
      published: [{ name: 'rates', pins: { blocks: { rate: '1.0.0' } }, by: { kind: 'owner' } }]
    })
    expect((await both.replay()).ok).toBe(true)
    await both.close()

    const later = await opened('2.0.0')
    expect(await run(later, 'r3')).toBe(
      'runtime.published_missing: The published document rates needs code that is not ' +
        'registered: rate@1.0.0.'
    )
    expect(await publish(later)).toMatchObject({ type: 'dapp' })
    expect(await run(later, 'r3')).toContain('run.not_permitted')
    await grant(later, 'rate')
    expect(await run(later, 'r3')).toEqual({ version: '2.0.0' })
    await later.close()
  })

  it('is compiled once for all its runs, and anew when it is published anew', async () => {
    const tally = await opened('1.0.0')
    await publish(tally)
    const prepared = await preparePublished(tally, 'rates')
    expect(await preparePublished(tally, 'rates')).toBe(prepared)
    await publish(tally, { document: { ...document, version: '2' } })
    expect(await preparePublished(tally, 'rates')).not.toBe(prepared)
    await tally.close()
  })

  it('K14: is run no more once it is withdrawn; a run that has begun is shown', async () => {
    const tally = await opened('1.0.0')
    await publish(tally, { name: 'other' })
    await grant(tally, 'rate')
    expect(await run(tally, 'r1', 'other')).toEqual({ version: '1.0.0' })
    const withdraw = { action: 'system.withdraw', payload: { name: 'other' } }
    expect(await tally.intent(withdraw)).toMatchObject({ type: 'dapp', name: 'other' })
    expect(await run(tally, 'r2', 'other')).toContain('runtime.not_published')
    expect(await tally.intent(withdraw)).toMatchObject({ reason: 'not_published' })
    expect(tally.run('r1')?.status).toBe('done')
    expect((await tally.replay()).ok).toBe(true)
    await tally.close()
  })

  it.each([
    ['no document', {}, 'invalid_input'],
    ['a hash of its own', { document, definitionHash: '0'.repeat(64) }, 'invalid_input'],
    ['a document that is not valid', { document: { schema: 'none' } }, 'invalid_document'],
    ['a name that no key has', { document, name: 'a/b' }, 'invalid_input']
  ])('K14: is refused with %s', async (_, payload, reason) => {
    const tally = await opened('1.0.0')
    const refused = await tally.intent({ action: 'system.publish', payload })
    expect(refused).toMatchObject({ type: 'error', reason })
    await tally.close()
  })

  it('K13: is published and withdrawn by the owner only, and by no step of a document', async () => {
    const tally = await opened('1.0.0')
    for (const principal of [
      { kind: 'agent', id: 'mcp' },
      { kind: 'peer', id: 'p' }
    ]) {
      for (const action of ['system.publish', 'system.withdraw']) {
        const asked = { action, payload: { document, name: 'rates' } }
        const refused = await tally.intents.submit(asked, principal)
        expect(refused).toMatchObject({ type: 'error', reason: 'not_permitted' })
      }
    }
    const input = { lit: { action: 'system.publish', payload: { document } } }
    const nodes = { one: { block: 'intent', input } }
    const step = await tally.begin({ ...document, nodes }).result
    expect(step.response.reason).toBe('not_in_documents')
    await tally.close()
  })
})
