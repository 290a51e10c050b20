import { describe, expect, it } from 'vitest'
import {
  createRegistry,
  parseManifest,
  type RoutedPackage,
  type RouteQuery,
  route
} from '../../../../src/capability/index.js'
import { type Json, type JsonObject, sha256Hex } from '../../../../src/core/index.js'

function installed(id: string, rest: JsonObject = {}): RoutedPackage {
  const document: Json = { name: id, id, intents: [`${id}.do`], capabilities: [], ...rest }
  const parsed = parseManifest(document)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.refusals))
  return { manifest: parsed.manifest, codeHash: sha256Hex(id) }
}

function offering(id: string, canonical: string, score: JsonObject = {}): RoutedPackage {
  const entry = { name: 'wallet.balance', canonical, ...score }
  return installed(id, { capabilities: [entry] })
}

function choose(packages: readonly RoutedPackage[], query: Partial<RouteQuery>) {
  const found = route(createRegistry(packages), {
    action: 'finance.balance',
    isGranted: () => true,
    ...query
  })
  if (found.kind === 'no_match') return found.kind
  const { stage, provider, isGranted } = found
  return `${stage} ${provider.packageId} ${provider.action}${isGranted ? '' : ' asks'}`
}

describe('route (K4)', () => {
  it('takes the canonical registry first, then ai, then manifests, then nothing', () => {
    const packages = [
      installed('b', { intents: ['finance.balance', 'ai.chat', 'notes'] }),
      offering('a', 'finance.balance'),
      installed('c', { capabilitySchemas: [{ id: 'ai.chat', type: 'query', canonical: 'talk' }] })
    ]
    expect(choose(packages, {})).toBe('canonical a wallet.balance')
    expect(choose(packages, { action: 'wallet.balance' })).toBe('canonical a wallet.balance')
    expect(choose(packages, { action: 'ai.chat' })).toBe('ai c ai.chat')
    expect(choose(packages, { action: 'ai.other' })).toBe('no_match')
    expect(choose(packages, { action: 'notes' })).toBe('manifest b notes')
    expect(choose(packages, { action: 'notes.add.now' })).toBe('manifest b notes.add.now')
    expect(choose(packages, { action: 'note' })).toBe('no_match')
    expect(choose(packages, { action: 'notesy.add' })).toBe('no_match')
  })

  it('prefers an exact intent to a prefix, and packages in id order', () => {
    const packages = [
      installed('z', { intents: ['a.b'] }),
      installed('m', { intents: ['a'] }),
      installed('k', { intents: ['a.b'] })
    ]
    expect(choose(packages, { action: 'a.b' })).toBe('manifest k a.b')
    expect(choose(packages, { action: 'a.c' })).toBe('manifest m a.c')
    expect(choose(packages, { action: 'a.b.c' })).toBe('manifest k a.b.c')
  })

  it('takes a granted or preferred package of any prefix before an earlier id', () => {
    const packages = [
      installed('a', { intents: ['x.y'] }),
      installed('b', { intents: ['x'] }),
      installed('c', { intents: ['x.y'] })
    ]
    const action = 'x.y.z'
    const only = (id: string) => (one: { readonly packageId: string }) => one.packageId === id
    expect(choose(packages, { action, isGranted: only('b') })).toBe('manifest b x.y.z')
    expect(choose(packages, { action, isGranted: only('c') })).toBe('manifest c x.y.z')
    expect(choose(packages, { action, isGranted: only('none') })).toBe('manifest a x.y.z asks')
    const preferred = () => 'b'
    expect(choose(packages, { action, preferred, isGranted: only('c') })).toBe(
      'manifest b x.y.z asks'
    )
  })

  it('chooses the best score, ties by id, whatever the order of installation', () => {
    const packages = [
      offering('dear', 'finance.balance', { cost: 2 }),
      offering('weak', 'finance.balance', { reliability: '0.4' }),
      offering('tieb', 'finance.balance', { cost: '0.5', latency: '0.5' }),
      offering('tiea', 'finance.balance', { reliability: '0.5' })
    ]
    expect(choose(packages, {})).toBe('canonical tiea wallet.balance')
    expect(choose([...packages].reverse(), {})).toBe('canonical tiea wallet.balance')
    const ids = createRegistry(packages).getProviders('finance.balance')
    expect(ids.map(({ packageId }) => packageId)).toEqual(['tiea', 'tieb', 'weak', 'dear'])
  })

  it('K4: a newcomer displaces no granted package, unless it is preferred', () => {
    const packages = [
      offering('old', 'finance.balance', { cost: 5 }),
      offering('new', 'finance.balance')
    ]
    const isGranted: RouteQuery['isGranted'] = ({ packageId }) => packageId === 'old'
    expect(choose(packages, { isGranted })).toBe('canonical old wallet.balance')
    expect(choose(packages, { isGranted: () => false })).toBe('canonical new wallet.balance asks')
    const preferred = (subject: string) => (subject === 'finance.balance' ? 'new' : undefined)
    expect(choose(packages, { isGranted, preferred })).toBe('canonical new wallet.balance asks')
    expect(choose(packages, { isGranted, preferred: () => 'gone' })).toBe(
      'canonical old wallet.balance'
    )
  })

  it('offers only what an entry says that it offers', () => {
    const plain = installed('a', { capabilities: ['wallet.balance'] })
    expect(createRegistry([plain]).getProviders('wallet.balance')).toEqual([])
    expect(choose([plain], { action: 'wallet.send' })).toBe('no_match')
  })

  it('refuses two packages with one id', () => {
    expect(() => createRegistry([installed('a'), installed('a')])).toThrow(
      expect.objectContaining({ code: 'capability.duplicate_package' })
    )
  })

  it('finds one among a thousand', () => {
    const packages = Array.from({ length: 1_000 }, (_, index) =>
      offering(`p${index}`, index % 100 === 7 ? 'finance.balance' : `other.n${index}`, {
        cost: 1_000 - index
      })
    )
    expect(choose(packages, {})).toBe('canonical p907 wallet.balance')
    expect(choose(packages, { action: 'p500.do.more' })).toBe('manifest p500 p500.do.more')
  })
})
