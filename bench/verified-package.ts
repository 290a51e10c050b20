import { encodePackage, makePackage, parseManifest } from '../src/capability/index.js'
import type { MachineOptions, PackageTarget } from '../src/testing/index.js'

const input = {
  type: 'object',
  properties: { by: { type: 'integer', minimum: 1, maximum: 100 } },
  required: ['by']
}

const manifest = {
  name: 'Counter',
  id: 'counter',
  version: '1.0.0',
  intents: ['counter.add'],
  capabilities: [
    { name: 'network.request', inputs: { hosts: ['api.example.com'] } },
    'storage.read',
    'storage.write'
  ],
  capabilitySchemas: [{ id: 'counter.add', type: 'mutation', input }]
}

const bundle = `
  export async function run({ payload: { by } }, { storage, network }) {
    const url = 'https://api.example.com/adds'
    await network.request({ url, method: 'POST', body: String(by), okOnly: true })
    const total = (storage.get('total') ?? 0) + by
    storage.set('total', total)
    return { total }
  }`

/** A package that asks the network and keeps a total, for processes that verify it. */
export const target: PackageTarget = packageTarget()

export const options: MachineOptions = {}

function packageTarget(): PackageTarget {
  const parsed = parseManifest(manifest)
  if (!parsed.ok) throw new Error(`the manifest is refused: ${JSON.stringify(parsed.refusals)}`)
  return { package: encodePackage(makePackage({ manifest: parsed.manifest, bundle })) }
}
