import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { secretsOf } from '../../../../src/intent/index.js'
import { createRuntime } from '../../../../src/runtime/index.js'
import { PackageFolder } from '../../../support/packages.js'

const canary = 'canary-8cJq0x'
let folder: PackageFolder
let location: string
beforeAll(async () => {
  folder = await PackageFolder.create()
  location = await mkdtemp(join(tmpdir(), 'tally-network-'))
})
afterAll(async () => {
  await folder.remove()
  await rm(location, { recursive: true, force: true })
})

async function filesBelow(directory: string): Promise<readonly Buffer[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name))))
}

it('T16, H7, K6: a secret reaches the server and nothing else; a replay sends nothing', async () => {
  const seen: (string | undefined)[] = []
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization)
    response.end(`you said ${String(request.headers.authorization)}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const directory = await folder.write({
    id: 'asker',
    intents: ['asker.ask'],
    capabilities: [{ name: 'network.request', inputs: { hosts: ['127.0.0.1'] } }],
    code: `export async function run({ payload }, api) {
      const { status, body } = await api.network.request({
        url: 'http://127.0.0.1:' + payload.port + '/',
        headers: { authorization: { secret: 'env:API_TOKEN', prefix: 'Bearer ' } }
      })
      return { status, body }
    }`
  })
  const open = () =>
    createRuntime({
      location: join(location, 'ledger'),
      create: 'if-absent',
      insecurePlaintextKey: true,
      packages: [directory],
      network: {
        policy: {
          allowLoopback: true,
          secrets: [{ reference: 'env:API_TOKEN', hosts: ['127.0.0.1'], packages: ['asker'] }]
        },
        secrets: secretsOf({ API_TOKEN: canary })
      }
    })
  {
    await using tally = await open()
    const payload = { package: 'asker', capabilities: ['network.request'] }
    // What asks first and is granted meanwhile is done again, and verified, like anything else.
    const ask = { id: 'asked', action: 'asker.ask', payload: { port } }
    expect(await tally.intent(ask)).toMatchObject({ type: 'permission_request' })
    await tally.intent({ action: 'system.grant', payload })
    const reply = await tally.result('asked')
    expect(reply).toMatchObject({ status: 200, body: 'you said Bearer [env:API_TOKEN]' })
  }
  server.close()
  {
    await using tally = await open()
    expect(tally.status()).toMatchObject({ mode: 'ready' })
    expect((await tally.replay()).failure).toBeUndefined()
  }
  expect(seen).toEqual([`Bearer ${canary}`])
  const files = await filesBelow(location)
  expect(files.some((bytes) => bytes.includes('you said Bearer'))).toBe(true)
  expect(files.filter((bytes) => bytes.includes(canary))).toEqual([])
})
