import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  createSandbox,
  type Sandbox,
  type SandboxOutcome
} from '../../../../src/capability/index.js'
import {
  capabilityError,
  coreError,
  limits,
  systemClock,
  systemRandom,
  TallyError
} from '../../../../src/core/index.js'
import { Registry } from '../../../../src/runtime/code/registry.js'
import { openForRuntime } from '../../../../src/runtime/open.js'
import { WiredRuntime } from '../../../../src/runtime/runtime.js'
import { PackageFolder, type WrittenPackage } from '../../../support/packages.js'

const steady: WrittenPackage = {
  id: 'steady',
  intents: ['steady.add'],
  capabilities: ['storage.write'],
  code: `export async function run({ payload }, api) {
    if (payload.turns > 1) for (;;) payload.turns;
    api.storage.set('sum', payload.turns)
    return { turns: payload.turns }
  }`
}

/** A sandbox whose machine has a bad day: the next executions end as the list says. */
class UnsteadySandbox implements Sandbox {
  readonly ends: (SandboxOutcome | TallyError)[] = []
  executions = 0
  readonly #sandbox = createSandbox({ threads: 1 })

  async execute(request: Parameters<Sandbox['execute']>[0]): Promise<SandboxOutcome> {
    this.executions += 1
    const end = this.ends.shift()
    if (end === undefined) return this.#sandbox.execute({ ...request, limits: { gasTicks: 50 } })
    if (end instanceof TallyError) throw end
    return end
  }

  warm = () => this.#sandbox.warm()
  close = () => this.#sandbox.close()
}

const killed = { kind: 'failed', code: 'killed', message: '', isDeterministic: false } as const
const broken = { ...killed, code: 'engine_failed', message: 'RangeError' } as const

let folder: PackageFolder
let tally: WiredRuntime | undefined

beforeAll(async () => {
  folder = await PackageFolder.create()
})

afterEach(() => tally?.close())
afterAll(() => folder.remove())

async function open(sandbox: Sandbox): Promise<WiredRuntime> {
  const random = systemRandom
  const runtime = new WiredRuntime(
    await openForRuntime({ location: 'memory:' }, { random }),
    await Registry.open({}),
    { clock: systemClock, random, durability: 'output', sandbox }
  )
  tally = runtime
  await runtime.loadPackages([await folder.write(steady)])
  const payload = { package: 'steady', capabilities: ['storage.write'] }
  await runtime.intent({ action: 'system.grant', payload })
  return runtime
}

const faults = limits.SANDBOX_FAULTS_MAX + 1
const full = coreError('core.limit_exceeded', { what: 'Packages', actual: 2, limit: 1 })
const missing = capabilityError('sandbox.engine_missing', { package: 'quickjs', version: '1' })

test.each([
  ['the wall clock ends', Array(faults).fill(killed), 'sandbox.wall_clock'],
  ['the engine fails', Array(faults).fill(broken), 'sandbox.engine_failed'],
  ['waits for a thread with too many others', [full], 'core.limit_exceeded'],
  ['has no engine here', [missing], 'sandbox.engine_missing']
] as const)(
  'X12: an intent whose package %s is open, has no receipt, and is done once it is resumed',
  async (_, ends, code) => {
    const sandbox = new UnsteadySandbox()
    const runtime = await open(sandbox)
    const receipts = runtime.status().receipts
    sandbox.ends.push(...ends)
    const asked = { id: 'one', action: 'steady.add', payload: { turns: 1 } }
    await expect(runtime.intent(asked)).rejects.toMatchObject({ code })
    expect(sandbox.executions).toBe(ends.length)
    expect(runtime.ledger.run('one' as never)).toMatchObject({ status: 'running' })
    expect(runtime.status().receipts).toBe(receipts)
    await runtime.resume('one')
    expect(await runtime.result('one')).toMatchObject({ type: 'dapp', turns: 1 })
    expect(await runtime.replay()).toMatchObject({ ok: true })
  }
)

test('X12: what ends by gas is sealed, also after a try that the wall clock ended', async () => {
  const sandbox = new UnsteadySandbox()
  const runtime = await open(sandbox)
  const quiet = await runtime.intent({ action: 'steady.add', payload: { turns: 2 } })
  sandbox.ends.push(killed)
  const loaded = await runtime.intent({ action: 'steady.add', payload: { turns: 2 } })
  const failed = { type: 'error', reason: 'gas_exceeded', details: { gas_ticks: 51 } }
  expect([quiet, loaded]).toMatchObject([failed, failed])
  expect(await runtime.replay()).toMatchObject({ ok: true })
})

test('X12: a verification that the wall clock ends says so, and finds no difference', async () => {
  const sandbox = new UnsteadySandbox()
  const runtime = await open(sandbox)
  await runtime.intent({ action: 'steady.add', payload: { turns: 1 } })
  sandbox.ends.push(...Array(faults).fill(killed))
  await expect(runtime.replay()).rejects.toMatchObject({ code: 'run.not_executed' })
  expect(runtime.status()).toMatchObject({ mode: 'ready', quarantined: [] })
  expect(await runtime.replay()).toMatchObject({ ok: true })
})
