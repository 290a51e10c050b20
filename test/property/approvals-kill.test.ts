import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRuntime } from '../../src/runtime/index.js'
import { approvers, payBlock } from '../support/approvers.js'
import { builtModule } from '../support/built.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-approvals-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const worker = fileURLToPath(new URL('approvals-kill/worker.mjs', import.meta.url))
const { ada, ben, cay } = approvers
const three = { threshold: 3, keys: [ada.key, ben.key, cay.key] }

/** A process that signs once; what it has told, and how it ended. */
function life(location: string, seed: Uint8Array, dies: boolean) {
  const given = { library: builtModule('index.js'), location, approvers: three, dies }
  const argument = JSON.stringify({ ...given, seed: Buffer.from(seed).toString('hex') })
  const options = { encoding: 'utf8' } as const
  const ended = spawnSync(process.execPath, [worker, argument], options)
  const [line = '{}'] = ended.stdout.split('\n')
  return { signal: ended.signal, status: ended.status, error: ended.stderr, told: JSON.parse(line) }
}

it('K13: what approvers have signed survives the death of each process between them', async () => {
  const location = join(folder, 'ledger')
  const partial = { accepted: true, isPartial: true }
  const repeated = { accepted: false, reason: 'already_approved' }
  const first = life(location, ada.seed, true)
  expect(first, first.error).toMatchObject({
    signal: 'SIGKILL',
    told: { had: [], outcome: partial, again: repeated }
  })
  const second = life(location, ben.seed, true)
  expect(second, second.error).toMatchObject({
    signal: 'SIGKILL',
    told: { had: [ada.key], outcome: partial, again: repeated, token: first.told.token }
  })
  const last = life(location, cay.seed, false)
  expect(last, last.error).toMatchObject({
    status: 0,
    told: { had: [ada.key, ben.key], outcome: { accepted: true } }
  })
  const tally = await createRuntime({ location, blocks: [payBlock] })
  const kinds: unknown[] = []
  for await (const { value } of tally.journal('r')) kinds.push((value as { k: string }).k)
  expect(kinds.filter((kind) => kind === 'approval')).toHaveLength(2)
  expect(tally.run('r')?.status).toBe('done')
  await tally.close()
})
