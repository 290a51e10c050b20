import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { OpenWait, Provider } from '../../../../src/block/index.js'
import { type Json, type JsonObject, limits } from '../../../../src/core/index.js'
import { chainEffects, chainProviders, type Executor } from '../../../../src/executor/index.js'
import { createRuntime, MEMORY_LOCATION, type RunHandle } from '../../../../src/runtime/index.js'
import { FakeChain } from '../../../../src/testing/fake-chain.js'
import { fakeExecutor } from '../../../../src/testing/fake-executor.js'
import { troublesOf } from '../../../../src/workflow/engine/diagnose.js'
import { type WorkflowHost, WorkflowParts } from '../../../../src/workflow/index.js'
import { aisText, seedProtocols } from '../../../support/ais.js'
import { TestChain } from '../../../support/ais-chain.js'
import { asset, balance, flow, owner, transfer } from '../../../support/ais-flows.js'

const protocols = seedProtocols.map(aisText)
const free: WorkflowHost = {
  protocols,
  writes: 'broadcast',
  onError: 'stop',
  policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
}

async function start(
  document: JsonObject,
  {
    chain = new TestChain(),
    host = free,
    inputs = {}
  }: {
    readonly chain?: TestChain
    readonly host?: WorkflowHost
    readonly inputs?: Json
  } = {}
) {
  const tally = await createRuntime({
    location: MEMORY_LOCATION,
    providers: chain.providers,
    workflow: { onError: 'stop', ...host }
  })
  return { tally, chain, run: tally.begin(document, { id: 'one', inputs }) }
}

/** The open waits once so many are open and nothing else can move. */
async function parked(run: RunHandle, count: number) {
  for await (const event of run) {
    if (event.type === 'run.finished') break
    if (event.type !== 'run.parked') continue
    const waits = await run.waits()
    if (waits.length === count) return waits
  }
  throw new Error('the run has ended')
}

const balances = (balance: string) => new TestChain({ read: () => ({ balance }) })

describe('W7: confirmations', () => {
  const document = flow([transfer('a'), balance('b'), transfer('c', { deps: ['a'] })])

  it('hold up only their own node, and are bound to what is executed', async () => {
    const { tally, chain, run } = await start(document, {
      chain: balances('7'),
      host: { protocols }
    })
    await using _ = tally
    const [wait] = await parked(run, 1)
    expect(chain.reads).toEqual(['balanceOf'])
    expect(chain.functions).toEqual([])
    const [trouble] = troublesOf({ waits: wait === undefined ? [] : [wait], response: null })
    expect(trouble).toMatchObject({
      nodeId: 'a',
      kind: 'confirm',
      request: {
        actionRef: 'erc20@0.0.2/transfer',
        chain: 'eip155:1',
        signer: { canSign: true },
        arguments: { amount: '5' },
        hitReasons: [{ reason: 'risk_level' }, { reason: 'not_broadcast' }]
      }
    })
    const token = wait?.token ?? ''
    const forged = await run.approve(token, { digest: '0'.repeat(64) })
    expect(forged).toMatchObject({ accepted: false })
    expect(await run.approve(token, { digest: wait?.digest ?? '' })).toMatchObject({
      accepted: true
    })
    const [next] = await parked(run, 1)
    expect(chain.functions).toEqual(['transfer'])
    const again = await run.approve(token, { digest: wait?.digest ?? '' })
    expect(again).toMatchObject({ accepted: false })
    await run.approve(next?.token ?? '', { digest: next?.digest ?? '' })
    expect(await run.result).toMatchObject({ status: 'done' })
    expect(chain.functions).toEqual(['transfer', 'transfer'])
    expect(await tally.verify()).toMatchObject({ ok: true })
    // The sibling ran once, and doing everything again asked no chain.
    expect(chain.reads).toEqual(['balanceOf'])
    expect(chain.functions).toEqual(['transfer', 'transfer'])
  })

  it('are asked anew when what is approved has changed, and the old one is void', async () => {
    const inputs = { amount: { type: 'uint256', required: true } }
    const args = { token: asset, to: owner, amount: { ref: 'inputs.amount' } }
    const fails = { ...down.fails, code: 'reverted', retryable: false }
    const chain = new TestChain({
      write: ({ execution }) =>
        (execution['args'] as JsonObject)['value'] === '9' ? { fails } : {}
    })
    const asking = flow([transfer('a', { args, on_error: 'ask' })], { inputs })
    const { tally, run } = await start(asking, {
      chain,
      host: { protocols },
      inputs: { amount: '9' }
    })
    await using _ = tally
    const [first] = await parked(run, 1)
    const old = { digest: first?.digest ?? '' }
    await run.approve(first?.token ?? '', old)
    const [failed] = await parked(run, 1)
    const value = { patches: [{ path: 'inputs.amount', value: '5' }] }
    const patch = { digest: failed?.digest ?? '', action: 'patch', value } as const
    await run.resume(failed?.token ?? '', patch)
    const [second] = await parked(run, 1)
    expect(second?.digest).not.toBe(old.digest)
    const refused = { accepted: false, reason: 'digest_mismatch' }
    expect(await run.approve(second?.token ?? '', old)).toEqual(refused)
    expect(await run.approve(first?.token ?? '', old)).toMatchObject({ accepted: false })
    await run.approve(second?.token ?? '', { digest: second?.digest ?? '' })
    expect(await run.result).toMatchObject({ status: 'done' })
    const sent = [...chain.sent.values()].map(({ execution }) => execution['args'])
    expect(sent).toMatchObject([{ value: '9' }, { value: '5' }])
  })

  it('end the node as denied', async () => {
    const { tally, chain, run } = await start(document, {
      chain: balances('7'),
      host: { protocols }
    })
    await using _ = tally
    const [wait] = await parked(run, 1)
    await run.deny(wait?.token ?? '', { digest: wait?.digest ?? '' })
    const { status, response } = await run.result
    expect(status).toBe('failed')
    expect(troublesOf({ waits: [], response })).toMatchObject([
      { nodeId: 'a', diagnostic: { code: 'denied', phase: 'confirm', actions: [] } }
    ])
    expect(chain.functions).toEqual([])
  })

  it('are not asked for when the policy lets it go, and cannot let go what it refuses', async () => {
    const bounded = {
      schema: 'ais-pack/0.0.2',
      meta: { name: 'p', version: '1.0.0' },
      includes: [{ protocol: 'erc20', version: '0.0.2' }],
      policy: { hard_constraints_defaults: { max_spend: '4' } }
    }
    const allowed = await start(flow([transfer('a')]))
    await using _ = allowed.tally
    expect(await allowed.run.result).toMatchObject({ status: 'done' })
    const refused = await start(flow([transfer('a')]), { host: { ...free, packs: [bounded] } })
    await using __ = refused.tally
    const { response } = await refused.run.result
    expect(troublesOf({ waits: [], response })).toMatchObject([
      { diagnostic: { code: 'policy_blocked', phase: 'policy' } }
    ])
    expect(refused.chain.functions).toEqual([])
  })
})

describe('W3: what is missing', () => {
  const inputs = { amount: { type: 'uint256', required: true } }
  const args = { token: asset, to: owner, amount: { ref: 'inputs.amount' } }
  const outputs = { hash: { ref: 'nodes.c.outputs.tx_hash' }, sent: { ref: 'inputs.amount' } }

  it('is asked for by the node that needs it, and known to those after it', async () => {
    const nodes = [transfer('a', { args }), balance('b'), transfer('c', { args, deps: ['a'] })]
    const { tally, chain, run } = await start(flow(nodes, { inputs }), { chain: balances('1') })
    await using _ = tally
    const [wait] = await parked(run, 1)
    expect(troublesOf({ waits: wait === undefined ? [] : [wait], response: null })).toMatchObject([
      { kind: 'missing', request: { missing: [{ path: 'inputs.amount', type: 'uint256' }] } }
    ])
    const wrong = { digest: wait?.digest ?? '', value: { 'inputs.amount': 'five' } }
    const refused = { accepted: false, reason: 'answer_refused' }
    expect(await run.resume(wait?.token ?? '', wrong)).toMatchObject(refused)
    const right = { digest: wait?.digest ?? '', value: { 'inputs.amount': '5' } }
    await run.resume(wait?.token ?? '', right)
    expect(await run.result).toMatchObject({ status: 'done' })
    expect(chain.functions).toEqual(['transfer', 'transfer'])
    expect(await tally.verify()).toMatchObject({ ok: true })
  })

  it('is asked for in one question, however many nodes lack it', async () => {
    const nodes = [
      transfer('a', { args }),
      transfer('b', { args: { ...args, to: { ref: 'ctx.friend' } } }),
      balance('c', { assert: { cel: 'nodes.c.outputs.balance >= inputs.amount' } })
    ]
    const { tally, chain, run } = await start(flow(nodes, { inputs }), { chain: balances('9') })
    await using _ = tally
    const asked = await parked(run, 3)
    const missing = troublesOf({ waits: asked, response: null }).map(({ nodeId, request }) => [
      nodeId,
      ((request as JsonObject)['missing'] as JsonObject[]).map(({ path }) => path)
    ])
    // Of an assertion, too, it is known before anything is done.
    expect(Object.fromEntries(missing as [string, Json][])).toEqual({
      a: ['inputs.amount'],
      b: ['ctx.friend', 'inputs.amount'],
      c: ['inputs.amount']
    })
    const wait = asked.find(({ path }) => path === 'root/a')
    const give = (value: Json) =>
      run.resume(wait?.token ?? '', { digest: wait?.digest ?? '', value })
    const amount = { 'inputs.amount': '5' }
    // An address is each node's own.
    expect(await give({ ...amount, 'ctx.friend': `0x${'e'.repeat(40)}` })).toMatchObject({
      problem: 'nothing reads ctx.friend'
    })
    await give(amount)
    const [left] = await parked(run, 1)
    expect(left?.path).toBe('root/b')
    expect(JSON.stringify(left?.request)).not.toContain('inputs.amount')
    expect(chain.functions).toEqual(['transfer'])
    await run.resume(left?.token ?? '', {
      digest: left?.digest ?? '',
      value: { 'ctx.friend': `0x${'d'.repeat(40)}` }
    })
    expect(await run.result).toMatchObject({ status: 'done' })
    const sent = [...chain.sent.values()].map(({ execution }) => execution['args'])
    expect(sent).toMatchObject([{ value: '5' }, { to: `0x${'d'.repeat(40)}`, value: '5' }])
    expect(await tally.verify()).toMatchObject({ ok: true })
  })

  it('was given before: a node that asks later hears it, also in a later process', async () => {
    const location = await mkdtemp(join(tmpdir(), 'tally-workflow-'))
    const chain = balances('1')
    const open = () =>
      createRuntime({
        location: join(location, 'ledger'),
        create: 'if-absent',
        insecurePlaintextKey: true,
        serve: false,
        providers: chain.providers,
        workflow: free
      })
    const nodes = [
      transfer('n1', { args }),
      balance('n2', { args: { token: asset, owner: { ref: 'ctx.friend' } } }),
      transfer('n3', { args, deps: ['n2'] }),
      transfer('n4', { args: { ...args, amount: { ref: 'inputs.rest' } }, deps: ['n3'] })
    ]
    const both = { ...inputs, rest: { type: 'uint256', required: true } }
    const more = { inputs: both, outputs: { amount: { ref: 'inputs.amount' }, of: { lit: 1 } } }
    const first = await open()
    const run = first.begin(flow(nodes, more), { id: 'one', inputs: {} })
    const asked = await parked(run, 3)
    const waitOf = (path: string) => {
      const wait = asked.find((one) => one.path === path)
      return [wait?.token ?? '', wait?.digest ?? ''] as const
    }
    const [token, digest] = waitOf('root/n1')
    const given = { 'inputs.amount': '5', 'inputs.rest': '6' }
    await run.resume(token, { digest, by: 'ops', value: given })
    // The outputs ask as nodes do, and hear it at once.
    expect(await parked(run, 1)).toMatchObject([{ path: 'root/n2' }])
    await first.close()
    const second = await open()
    const on = await second.resume('one')
    const [friend, of] = waitOf('root/n2')
    await on.resume(friend, { digest: of, value: { 'ctx.friend': `0x${'d'.repeat(40)}` } })
    // No person is asked for what is known.
    const { response } = await on.result
    expect(response.data).toEqual({ amount: '5', of: 1 })
    const sent = [...chain.sent.values()].map(({ execution }) => execution['args'])
    expect(sent).toMatchObject([{ value: '5' }, { value: '5' }, { value: '6' }])
    const heard: Json[] = []
    for await (const { value } of second.journal('one')) {
      const { k, effect, path, body } = value as JsonObject
      if (k !== 'sealed' || effect !== 'wait') continue
      const { by, value: told } = body as JsonObject
      heard.push([path ?? '', (by as JsonObject)['claimed'] ?? '', told ?? null])
    }
    const patch = (name: string, value: string) => ({ op: 'set', path: `inputs.${name}`, value })
    expect(heard).toEqual([
      ['root/n1', 'ops', given],
      ['root/run__outputs', 'ops', { patches: [patch('amount', '5')] }],
      ['root/n2', '', { 'ctx.friend': `0x${'d'.repeat(40)}` }],
      ['root/n3', 'ops', { patches: [patch('amount', '5')] }],
      ['root/n4', 'ops', { patches: [patch('rest', '6')] }]
    ])
    expect(await second.verify()).toMatchObject({ ok: true })
    await second.close()
    await rm(location, { recursive: true, force: true })
  })

  it('is the same for one visit of one workflow, and for no other', async () => {
    const chain = new TestChain()
    const part = flow([transfer('a', { args }), transfer('b', { args })], { inputs })
    const pays = (id: string, deps: readonly string[]) => {
      return { id, deps, use: 'demo', input: { lit: {} } }
    }
    const twice = {
      schema: 'tally-plan/1',
      name: 'twice',
      version: '1.0.0',
      order: 'arrival',
      nodes: [pays('one', []), pays('two', []), pays('three', ['one'])]
    }
    await using tally = await createRuntime({
      location: MEMORY_LOCATION,
      providers: chain.providers,
      composites: [part],
      workflow: free
    })
    const run = tally.begin(twice as unknown as Json, { id: 'one', inputs: {} })
    const answer = async (waits: readonly OpenWait[], path: string, amount: string) => {
      const { token = '', digest = '' } = waits.find((one) => one.path === path) ?? {}
      await run.resume(token, { digest, value: { 'inputs.amount': amount } })
    }
    const asked = await parked(run, 4)
    await answer(asked, 'root/one/a', '5')
    const next = await parked(run, 4)
    expect(next.map(({ path }) => path).sort()).toEqual(
      ['two/a', 'two/b', 'three/a', 'three/b'].map((path) => `root/${path}`).sort()
    )
    await answer(next, 'root/three/b', '6')
    await answer(next, 'root/two/b', '7')
    expect(await run.result).toMatchObject({ status: 'done' })
    const sent = [...chain.sent.values()].map(({ execution }) => {
      return (execution['args'] as JsonObject)['value']
    })
    expect([...sent].sort()).toEqual(['5', '5', '6', '6', '7', '7'])
    // What was said at the first visit is not known at the second.
    const again = {
      schema: 'tally-composite/1',
      name: 'again',
      version: '1.0.0',
      entry_point: 'pay',
      max_steps: 2,
      nodes: { pay: { use: 'demo', input: { lit: {} } } },
      transitions: { pay: 'pay' }
    }
    const visits = tally.begin(again, { id: 'visits', inputs: {} })
    const [wait] = await parked(visits, 2)
    const { token = '', digest = '' } = wait ?? {}
    await visits.resume(token, { digest, value: { 'inputs.amount': '8' } })
    const asks = (await parked(visits, 2)).map(({ path }) => path)
    expect([chain.sent.size, ...asks]).toEqual([8, 'root/pay/a', 'root/pay/b'])
    await visits.cancel('enough')
    expect(await tally.verify()).toMatchObject({ ok: true })
  })

  it('outputs are computed in the end', async () => {
    const nodes = [transfer('a', { args }), transfer('c', { args, deps: ['a'] })]
    const { tally, run } = await start(flow(nodes, { inputs, outputs }), {
      inputs: { amount: '5' }
    })
    await using _ = tally
    const { response } = await run.result
    expect(response.data).toMatchObject({ sent: '5', hash: expect.stringMatching(/^0x/) })
  })

  it('inputs of another type, and unknown ones, are refused before anything begins', async () => {
    const document = flow([balance('b'), transfer('a', { args })], { inputs })
    const refused = async (given: Json) => {
      const { tally, chain, run } = await start(document, { inputs: given })
      await using _ = tally
      const { status, response } = await run.result
      expect(status).toBe('failed')
      expect(chain.reads).toEqual([])
      const begun: string[] = []
      for await (const { runId } of tally.runs()) begun.push(runId)
      expect(begun).toEqual([])
      return response
    }
    const about = (name: string) => ({ reason: 'invalid_input', path: ['inputs', name] })
    expect(await refused({ amount: '1.5' })).toMatchObject({
      reason: 'invalid_input',
      errorType: 'InvalidInput',
      details: { diagnostics: [{ ...about('amount'), message: expect.stringMatching(/./) }] }
    })
    expect(await refused({ inputs: { amount: '5', other: 1 } })).toMatchObject({
      details: { diagnostics: [about('other')] }
    })
  })
})

const down = {
  fails: {
    code: 'rpc_down',
    phase: 'read',
    chain: 'eip155:1',
    executionType: 'evm_read',
    retryable: true,
    sent: false,
    message: 'no answer'
  }
}

describe('W5: trying again', () => {
  const until = { cel: 'nodes.a.outputs.balance >= 3' }
  const growing = (before: number) => ({ balance: String(before + 1) })

  it('polls until the condition holds, over failures that pass', async () => {
    const chain = new TestChain({ read: ({ before }) => (before === 1 ? down : growing(before)) })
    const retry = { interval_ms: 1, max_attempts: 5, backoff: 'linear' }
    const { tally, run } = await start(flow([balance('a', { until, retry })]), { chain })
    await using _ = tally
    const { response } = await run.result
    expect(response.data).toMatchObject({ nodes: { a: { data: { outputs: { balance: '3' } } } } })
    expect(chain.reads).toHaveLength(3)
    expect(await tally.verify()).toMatchObject({ ok: true })
  })

  it('gives up after max_attempts executions and shows the last outputs', async () => {
    const chain = balances('1')
    const retry = { interval_ms: 1, max_attempts: 4 }
    const { tally, run } = await start(flow([balance('a', { until, retry })]), { chain })
    await using _ = tally
    const { response } = await run.result
    expect(chain.reads).toHaveLength(4)
    expect(troublesOf({ waits: [], response })).toMatchObject([
      {
        diagnostic: {
          code: 'until_exhausted',
          elapsedMs: 3,
          lastOutputs: { balance: '1' },
          actions: []
        }
      }
    ])
  })

  it('retries what may pass, and only that', async () => {
    const retry = { interval_ms: 1, max_attempts: 3 }
    const chain = new TestChain({ read: ({ before }) => (before < 2 ? down : { balance: '1' }) })
    const { tally, run } = await start(flow([balance('a', { retry })]), { chain })
    await using _ = tally
    expect(await run.result).toMatchObject({ status: 'done' })
    expect(chain.reads).toHaveLength(3)
    const failing = new TestChain({
      read: () => ({ fails: { ...down.fails, code: 'invalid_execution', retryable: false } })
    })
    const other = await start(flow([balance('a', { retry })]), { chain: failing })
    await using __ = other.tally
    const { response } = await other.run.result
    expect(failing.reads).toHaveLength(1)
    expect(troublesOf({ waits: [], response })).toMatchObject([
      { diagnostic: { code: 'invalid_execution', phase: 'read', retryable: false } }
    ])
  })

  it('ends by its timeout', async () => {
    const retry = { interval_ms: 20, max_attempts: 3_000 }
    const node = balance('a', { until, retry, timeout_ms: 50 })
    const { tally, run } = await start(flow([node]), { chain: balances('1') })
    await using _ = tally
    const { status, response } = await run.result
    expect(status).toBe('failed')
    expect(troublesOf({ waits: [], response })).toMatchObject([
      { nodeId: 'a', diagnostic: { code: 'timed_out', actions: [] } }
    ])
  })
})

describe('W9: failures', () => {
  const assert = { cel: 'nodes.a.outputs.balance > 5' }

  it('stop the run, tell which assertion, and leave what is done', async () => {
    const message = 'too little'
    const nodes = [
      balance('a', { assert, assert_message: message }),
      transfer('c', { deps: ['a'] })
    ]
    const { tally, chain, run } = await start(flow(nodes), { chain: balances('1') })
    await using _ = tally
    const { response } = await run.result
    expect(troublesOf({ waits: [], response })).toMatchObject([
      { nodeId: 'a', diagnostic: { code: 'assert_failed', message, phase: 'assert' } }
    ])
    expect(chain.functions).toEqual([])
  })

  it('cancel what waits for a person, and leave to its end what was sent', async () => {
    const amount = { lit: '5' }
    const asking = {
      schema: 'ais-pack/0.0.2',
      meta: { name: 'p', version: '1.0.0' },
      includes: [{ protocol: 'erc20', version: '0.0.2' }],
      overrides: { actions: { 'erc20.approve': { require_approval: true } } }
    }
    let open: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const chain = new TestChain({ read: () => ({ balance: '1' }) })
    const providers = chain.providers.map(
      (provider): Provider => ({
        ...provider,
        perform: async (call) => {
          const { execution } = call.request as { readonly execution?: JsonObject }
          const isLook = provider.name === chainEffects.look
          // The read fails once the transaction is sent, and its fate is known only afterwards.
          if (provider.name === chainEffects.read) await gate
          if (provider.name === chainEffects.broadcast) open()
          if (isLook && execution !== undefined) {
            await new Promise((resolve) => setTimeout(resolve, 100))
          }
          return provider.perform(call)
        }
      })
    )
    await using tally = await createRuntime({
      location: MEMORY_LOCATION,
      providers,
      workflow: { ...free, packs: [asking] }
    })
    const nodes = [
      balance('a', { assert }),
      transfer('b'),
      { ...transfer('asks'), action: 'approve', args: { token: asset, spender: owner, amount } },
      transfer('c', { deps: ['b'] })
    ]
    const { status, response } = await tally.begin(flow(nodes), { inputs: {} }).result
    expect(status).toBe('failed')
    expect(response.details).toMatchObject({ failed_node: 'a', nodes: { b: { status: 'done' } } })
    expect(JSON.stringify(response.details)).not.toContain('"asks":{"status":"done"')
    expect(chain.functions).toEqual(['transfer'])
  })

  it('block only what depends on the node, with on_error: continue', async () => {
    const nodes = [
      balance('a', { assert, on_error: 'continue' }),
      transfer('b', { deps: ['a'] }),
      transfer('c')
    ]
    const { tally, chain, run } = await start(flow(nodes), { chain: balances('1') })
    await using _ = tally
    const { response } = await run.result
    expect(chain.functions).toEqual(['transfer'])
    expect(response).toMatchObject({
      data: {
        nodes: { a: { status: 'failed' }, b: { status: 'blocked' }, c: { status: 'done' } }
      }
    })
  })

  it('are handed up with on_error: ask, and mended by a patch of what was given', async () => {
    const inputs = { amount: { type: 'uint256', required: true } }
    const args = { token: asset, to: owner, amount: { ref: 'inputs.amount' } }
    const node = transfer('a', { args, on_error: 'ask', condition: { cel: 'inputs.amount > 0' } })
    const chain = new TestChain({
      write: ({ execution }) => {
        const { value } = execution['args'] as JsonObject
        const revert = { ...down.fails, code: 'reverted', phase: 'send', retryable: false }
        return value === '5' ? {} : { fails: revert }
      }
    })
    const { tally, run } = await start(flow([node], { inputs }), {
      chain,
      inputs: { inputs: { amount: '9' } }
    })
    await using _ = tally
    const [wait] = await parked(run, 1)
    const troubles = troublesOf({ waits: wait === undefined ? [] : [wait], response: null })
    expect(troubles).toMatchObject([
      {
        kind: 'decision',
        diagnostic: { code: 'reverted', actions: ['patch', 'ask_user', 'abort'] }
      }
    ])
    const forged = { spec: { node: { execution: { to: `0x${'f'.repeat(40)}` } } } }
    const digest = wait?.digest ?? ''
    expect(
      await run.resume(wait?.token ?? '', { digest, action: 'patch', value: forged })
    ).toMatchObject({ accepted: false, reason: 'answer_refused' })
    const amount = { path: 'inputs.amount', value: '5' }
    const patch = (...patches: Json[]) =>
      run.resume(wait?.token ?? '', { digest, action: 'patch', value: { patches } })
    expect(await patch(amount, { path: 'nodes.a', value: 1 })).toMatchObject({ accepted: false })
    expect(await patch(amount)).toMatchObject({ accepted: true })
    const { status, response } = await run.result
    expect(status).toBe('done')
    expect(response.data).toMatchObject({
      nodes: { a: { data: { patches: [{ op: 'set', path: 'inputs.amount', value: '5' }] } } }
    })
  })
})

describe('choices', () => {
  const detect = {
    kind: 'best_quote',
    provider: 'quotes',
    candidates: [{ lit: '3' }, { lit: '5' }]
  }
  const args = { token: asset, to: owner, amount: { detect } }

  it('are made by the provider that is named, and sealed', async () => {
    const chain = new TestChain()
    await using tally = await createRuntime({
      location: MEMORY_LOCATION,
      providers: [
        ...chain.providers,
        {
          name: 'ais.detect',
          perform: ({ request }) =>
            (request as { readonly candidates: Json[] }).candidates[1] ?? null
        }
      ],
      workflow: free
    })
    const run = tally.begin(flow([transfer('a', { args })]), { id: 'one' })
    expect(await run.result).toMatchObject({ status: 'done' })
    expect([...chain.sent.values()]).toMatchObject([{ execution: { args: { value: '5' } } }])
    expect(await tally.verify()).toMatchObject({ ok: true })
  })

  it('are asked of a person where no provider is', async () => {
    const { tally, chain, run } = await start(flow([transfer('a', { args })]))
    await using _ = tally
    const [wait] = await parked(run, 1)
    expect(troublesOf({ waits: wait === undefined ? [] : [wait], response: null })).toMatchObject([
      { kind: 'missing', request: { choices: [{ key: 'args/amount/0', candidates: ['3', '5'] }] } }
    ])
    const value = { choices: { 'args/amount/0': '3' } }
    await run.resume(wait?.token ?? '', { digest: wait?.digest ?? '', value })
    expect(await run.result).toMatchObject({ status: 'done' })
    expect([...chain.sent.values()]).toMatchObject([{ execution: { args: { value: '3' } } }])
  })
})

describe('starting', () => {
  it('takes protocols with the document', async () => {
    const chain = balances('7')
    await using tally = await createRuntime({
      location: MEMORY_LOCATION,
      providers: chain.providers
    })
    const run = tally.begin(flow([balance('a')]), { protocols: [aisText('erc20')] })
    expect(await run.result).toMatchObject({ status: 'done' })
    const unknown = await tally.begin(flow([balance('a')]), {}).result
    expect(unknown).toMatchObject({ status: 'failed', response: { reason: 'invalid_graph' } })
  })
})

describe('a workflow inside of another document', () => {
  const inputs = { amount: { type: 'uint256', required: true } }
  const args = { token: asset, to: owner, amount: { ref: 'inputs.amount' } }
  const outer = {
    schema: 'tally-composite/1',
    name: 'outer',
    version: '1.0.0',
    entry_point: 'pay',
    nodes: { pay: { use: 'demo', input: { object: { amount: { ref: 'request.payload.much' } } } } },
    transitions: {}
  }

  it('is used by its name, and keeps its waits, receipts and guards', async () => {
    const chain = balances('7')
    const assert = { cel: 'nodes.a.outputs.balance > 9' }
    const nodes = [balance('a', { assert, on_error: 'ask' }), transfer('b', { args, deps: ['a'] })]
    await using tally = await createRuntime({
      location: MEMORY_LOCATION,
      providers: chain.providers,
      composites: [flow(nodes, { inputs, outputs: { sent: { ref: 'inputs.amount' } } })],
      workflow: { protocols }
    })
    const run = tally.begin(outer, { id: 'one', inputs: { much: '5' } })
    const [late] = await parked(run, 1)
    expect(late).toMatchObject({ path: 'root/pay/a', reason: 'decision' })
    const token = late?.token ?? ''
    const decision = { digest: late?.digest ?? '', action: 'patch' } as const
    expect(await run.resume(token, { ...decision, value: { spec: {} } })).toMatchObject({
      accepted: false,
      reason: 'answer_refused'
    })
    await run.resume(token, { ...decision, action: 'skip' })
    const [wait] = await parked(run, 1)
    expect(troublesOf({ waits: wait === undefined ? [] : [wait], response: null })).toMatchObject([
      { nodeId: 'b', kind: 'confirm', request: { arguments: { amount: '5' } } }
    ])
    await run.approve(wait?.token ?? '', { digest: wait?.digest ?? '' })
    expect(await run.result).toMatchObject({ status: 'done', response: { data: { sent: '5' } } })
    expect(chain.functions).toEqual(['transfer'])
    expect(await tally.verify()).toMatchObject({ ok: true })
  })

  const part = flow(
    [balance('a', { on_error: 'continue' }), transfer('b', { args, on_error: 'continue' })],
    { inputs }
  )

  it('W3: refuses inputs of another type before any node of it begins', async () => {
    const chain = balances('7')
    const options = { location: MEMORY_LOCATION, providers: chain.providers, workflow: free }
    await using tally = await createRuntime({ ...options, composites: [part] })
    const run = tally.begin(outer, { id: 'one', inputs: { much: '5.5' } })
    const begun: string[] = []
    for await (const event of run) if (event.type === 'block.settled') begun.push(event.path)
    expect(begun).toEqual(['root/pay/run__inputs'])
    const { status, response } = await run.result
    expect(status).toBe('failed')
    const message = 'not a value of type uint256: it is not a whole number as decimal digits'
    const [trouble] = troublesOf({ waits: [], response })
    expect(trouble?.diagnostic).toMatchObject({
      code: 'invalid_input',
      nodeId: 'run__inputs',
      phase: 'plan',
      values: [{ place: 'inputs.amount', message }],
      actions: []
    })
    expect([...chain.reads, ...chain.functions]).toEqual([])
    const good = tally.begin(outer, { id: 'two', inputs: { much: '5' } })
    expect(await good.result).toMatchObject({ status: 'done' })
    expect([...chain.reads, ...chain.functions]).toEqual(['balanceOf', 'transfer'])
    expect(await tally.verify()).toMatchObject({ ok: true })
  })

  it('W3: refuses a document that writes out inputs of another type', async () => {
    const options = { location: MEMORY_LOCATION, workflow: free }
    await using tally = await createRuntime({ ...options, composites: [part] })
    const giving = (input: Json) => ({ ...outer, nodes: { pay: { use: 'demo', input } } })
    const amount = (value: Json) => ({ object: { amount: value } })
    const wrong: readonly [Json, RegExp][] = [
      [{ lit: { amount: 'five' } }, /the input amount of demo: not a value of type uint256/],
      [amount({ lit: '1.5' }), /the input amount of demo: not a value of type uint256/],
      [{ object: { inputs: amount({ lit: '1.5' }) } }, /the input amount of demo/],
      [{ object: { other: { lit: 1 } } }, /the input other of demo: the workflow has no such/]
    ]
    for (const [input, message] of wrong) {
      const found = { reason: 'invalid_graph', path: ['nodes', 'pay', 'input'] }
      expect(await tally.lint(giving(input))).toMatchObject([
        { ...found, message: expect.stringMatching(message) }
      ])
      const { entry_point, nodes, transitions } = giving(input)
      const inside = { in: { composite: { entry_point, nodes, transitions } } }
      expect(await tally.lint({ ...outer, entry_point: 'in', nodes: inside })).toMatchObject([
        { path: ['nodes', 'in', 'composite', 'nodes', 'pay', 'input'] }
      ])
      const composites = [part, { ...giving(input), name: 'uses' }]
      await expect(createRuntime({ ...options, composites })).rejects.toMatchObject({
        code: 'runtime.invalid_composite'
      })
    }
    for (const input of [amount({ lit: '5' }), amount({ ref: 'request.payload' }), { lit: {} }]) {
      expect(await tally.lint(giving(input))).toEqual([])
    }
  })
})

describe('W4: amounts', () => {
  it('with more decimals than the asset fail before anything is asked of a chain', async () => {
    const inputs = { much: { type: 'token_amount', required: true } }
    const args = { token: asset, spender: owner, amount: { ref: 'inputs.much' } }
    const approves = { ...transfer('a', { args, on_error: 'ask' }), action: 'approve' }
    const { tally, chain, run } = await start(flow([approves], { inputs }), {
      inputs: { much: '1.2345678' }
    })
    await using _ = tally
    const [wait] = await parked(run, 1)
    expect(troublesOf({ waits: wait === undefined ? [] : [wait], response: null })).toMatchObject([
      { diagnostic: { code: 'expression_failed', phase: 'arguments', actions: { 0: 'patch' } } }
    ])
    expect(chain.functions).toEqual([])
    const value = { patches: [{ path: 'inputs.much', value: '1.234567' }] }
    await run.resume(wait?.token ?? '', { digest: wait?.digest ?? '', action: 'patch', value })
    expect(await run.result).toMatchObject({ status: 'done' })
    expect([...chain.sent.values()]).toMatchObject([{ execution: { args: { value: '1234567' } } }])
  })
})

describe('W10: events', () => {
  it('of one run are all there, typed and as lines', async () => {
    const chain = new TestChain({ read: ({ before }) => ({ balance: String(before) }) })
    const inputs = { amount: { type: 'uint256', required: true } }
    const mine = { token: asset, owner: { ref: 'ctx.wallet_address' } }
    const args = { token: asset, to: owner, amount: { ref: 'inputs.amount' } }
    const until = { cel: 'nodes.polls.outputs.balance >= 1' }
    const assert = { cel: 'nodes.poor.outputs.balance > 5' }
    const nodes = [
      balance('polls', { until, retry: { interval_ms: 1, max_attempts: 3 } }),
      balance('poor', { args: mine, assert, on_error: 'continue' }),
      balance('not', { condition: { lit: false } }),
      transfer('pays', { args })
    ]
    const { tally, run } = await start(flow(nodes, { inputs }), { chain, host: { protocols } })
    await using _ = tally
    const answers: JsonObject[] = [{ patches: 'none' }, { 'inputs.amount': '5' }]
    const lines: string[] = []
    for await (const event of run) {
      lines.push(JSON.stringify(event))
      if (event.type !== 'run.parked') continue
      const [wait] = await run.waits()
      const { token = '', digest = '' } = wait ?? {}
      const value = answers.shift()
      if (value === undefined) await run.approve(token, { digest })
      else await run.resume(token, { digest, value })
    }
    const events = lines.map((line) => JSON.parse(line) as JsonObject)
    const types = new Set(events.map(({ type, message }) => (type === 'log' ? message : type)))
    expect([...types]).toEqual(
      expect.arrayContaining([
        'run.started',
        ...['node_ready', 'node_blocked', 'skipped', 'solver_applied'],
        ...['patch_applied', 'patch_rejected', 'need_user_confirm', 'query_result'],
        ...['node_waiting', 'tx_prepared', 'tx_sent', 'tx_confirmed', 'error'],
        ...['waiting', 'answered', 'run.parked', 'run.resumed', 'run.finished']
      ])
    )
    const logged = (message: string) =>
      events.flatMap((event) => (event['message'] === message ? [event['data'] ?? null] : []))
    const [error] = logged('error')
    expect(error).toMatchObject({ diagnostic: { code: 'assert_failed', nodeId: 'poor' } })
    expect(logged('patch_applied').at(-1)).toMatchObject({
      applied: 1,
      rejected: []
    })
    const hash = { hash: expect.stringMatching(/^0x/) }
    for (const one of ['tx_prepared', 'tx_sent', 'tx_confirmed']) {
      expect(logged(one)).toMatchObject([hash])
    }
    expect(new Set(events.map(({ runId }) => runId))).toEqual(new Set(['one']))
  })
})

describe('W11: at once', () => {
  it('are so many reads of each chain, and no chain waits for another', async () => {
    const ids = ['eip155:1', 'eip155:2']
    const width = limits.CHAIN_CALLS_AT_ONCE
    const fake = fakeExecutor({ chains: ids.map((id) => new FakeChain({ id })) })
    const under = new Map(ids.map((id) => [id, 0]))
    let most = 0
    let open: () => void = () => undefined
    // No request is answered until both chains are as busy as they may be.
    const full = new Promise<void>((resolve) => {
      open = resolve
    })
    const executor: Executor = {
      ...fake,
      read: async ({ chain }) => {
        const busy = (under.get(chain) ?? 0) + 1
        under.set(chain, busy)
        most = Math.max(most, busy)
        if ([...under.values()].every((count) => count >= width)) open()
        await full
        // A request that was let in too early is here before this turn is over.
        await new Promise((resolve) => setImmediate(resolve))
        under.set(chain, (under.get(chain) ?? 0) - 1)
        return { balance: '1' }
      }
    }
    await using tally = await createRuntime({
      location: MEMORY_LOCATION,
      providers: chainProviders([executor]),
      workflow: free
    })
    const nodes = ids.flatMap((chain, index) =>
      Array.from({ length: 3 * width }, (_, place) => balance(`n${index}_${place}`, { chain }))
    )
    const run = tally.begin(flow(nodes), { id: 'one', inputs: {} })
    expect(await run.result).toMatchObject({ status: 'done' })
    expect(most).toBe(width)
  })
})

describe('W12: yes', () => {
  const bundle = (nodes: readonly JsonObject[], more: JsonObject) => ({
    schema: 'ais-bundle/1',
    flow: flow(nodes, { inputs: { amount: { type: 'uint256', required: true } } }),
    protocols: [],
    packs: [],
    yes: true,
    ...more
  })
  const args = { token: asset, to: owner, amount: { ref: 'inputs.amount' } }

  it('counts for what the policy alone asks, never for the rest', async () => {
    const chain = new TestChain()
    const asks = { protocols }
    const host = { chain, host: asks }
    const free = bundle([transfer('a')], { writes: 'broadcast' })
    const sent = await start(free, host)
    await using _ = sent.tally
    expect(await sent.run.result).toMatchObject({ status: 'done' })
    expect(chain.functions).toEqual(['transfer'])
    // Not for sending, where the run may not send by itself.
    const held = await start(bundle([transfer('a')], { writes: 'ask' }), host)
    await using __ = held.tally
    const [confirm] = await parked(held.run, 1)
    expect(confirm).toMatchObject({
      reason: 'confirmation',
      request: { request: { hitReasons: [{ reason: 'not_broadcast' }] } }
    })
    // Not for what is missing.
    const lacks = await start(bundle([transfer('a', { args })], { writes: 'broadcast' }), host)
    await using ___ = lacks.tally
    expect(await parked(lacks.run, 1)).toMatchObject([{ reason: 'external' }])
    // Not for a decision about a failure, and not for what the policy refuses.
    const failing = balance('a', { assert: { lit: false }, on_error: 'ask' })
    const failed = await start(bundle([failing], { writes: 'broadcast' }), {
      chain: balances('1'),
      host: asks
    })
    await using ____ = failed.tally
    expect(await parked(failed.run, 1)).toMatchObject([{ reason: 'decision' }])
    const pack = {
      schema: 'ais-pack/0.0.2',
      meta: { name: 'p', version: '1.0.0' },
      includes: [{ protocol: 'erc20', version: '0.0.2' }],
      policy: { hard_constraints_defaults: { max_spend: '4' } }
    }
    const refused = await start(
      bundle([transfer('a')], { writes: 'broadcast', packs: [pack] }),
      host
    )
    await using _____ = refused.tally
    const { response } = await refused.run.result
    expect(troublesOf({ waits: [], response })).toMatchObject([
      { diagnostic: { code: 'policy_blocked' } }
    ])
    expect(chain.functions).toEqual(['transfer'])
  })
})

describe('queries', () => {
  it('read the state that their protocol names', async () => {
    const blocks: Json[] = []
    const providers: Provider[] = [
      {
        name: chainEffects.read,
        perform: ({ request }) => {
          blocks.push((request as JsonObject)['block'] ?? null)
          return { balance: '1' }
        }
      }
    ]
    const protocol = (consistency: JsonObject) =>
      aisText('erc20').replace(
        '  balance:',
        `  balance:\n    consistency: ${JSON.stringify(consistency)}`
      )
    for (const block of ['finalized', 7]) {
      await using tally = await createRuntime({
        location: MEMORY_LOCATION,
        providers,
        workflow: { protocols: [protocol({ block_tag: block })] }
      })
      const { status } = await tally.begin(flow([balance('a')]), { inputs: {} }).result
      expect(status).toBe('done')
    }
    expect(blocks).toEqual(['finalized', '7'])
    const other = () => new WorkflowParts({ protocols: [protocol({ cache: true })] })
    expect(other).toThrow(/cache/)
  })
})

describe('W7: after a restart', () => {
  const nodes = (amount: string) =>
    flow([transfer('a', { args: { token: asset, to: owner, amount: { lit: amount } } })])
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tally-workflow-'))
  })
  afterEach(() => rm(directory, { recursive: true, force: true }))

  const open = (chain: TestChain, workflow: WorkflowHost = { protocols }) =>
    createRuntime({
      location: join(directory, 'ledger'),
      create: 'if-absent',
      insecurePlaintextKey: true,
      serve: false,
      providers: chain.providers,
      workflow
    })

  it('a changed definition is other work, and an approval of the old one moves nothing new', async () => {
    const chain = new TestChain()
    const first = await open(chain)
    const [wait] = await parked(first.begin(nodes('5'), { id: 'one', inputs: {} }), 1)
    const given = { digest: wait?.digest ?? '' }
    await first.close()
    // Also what the program brings is another one by now: the run keeps the plan that it has.
    const other20 = protocols.map((text) => text.replaceAll('name: transfer', 'name: burn'))
    const strict = { autoExecuteMaxRisk: 1, requireApprovalMinRisk: 2 }
    const again = await open(chain, { protocols: other20, policy: strict })
    await expect(again.begin(nodes('500'), { id: 'one', inputs: {} }).result).rejects.toMatchObject(
      { code: 'run.id_reused' }
    )
    const other = again.begin(nodes('500'), { id: 'two', inputs: {} })
    const [ask] = await parked(other, 1)
    expect(ask?.digest).not.toBe(wait?.digest)
    const token = ask?.token ?? ''
    expect(await other.approve(token, given)).toMatchObject({ accepted: false })
    expect(await other.approve(wait?.token ?? '', given)).toMatchObject({ accepted: false })
    expect(chain.functions).toEqual([])
    const run = await again.resume('one')
    expect(await run.approve(wait?.token ?? '', given)).toMatchObject({ accepted: true })
    expect(await run.approve(wait?.token ?? '', given)).toMatchObject({ accepted: false })
    expect(await run.result).toMatchObject({ status: 'done' })
    const sent = [...chain.sent.values()].map(({ execution }) => execution['args'])
    expect(sent).toMatchObject([{ value: '5' }])
    expect(chain.functions).toEqual(['transfer'])
    await again.close()
  })

  it('W10: a command with an id is done once, and has the same outcome again', async () => {
    const fails = { ...down.fails, code: 'reverted', retryable: false }
    const chain = new TestChain({
      write: ({ before }) => (before === 0 ? { fails } : {})
    })
    const document = flow([transfer('a', { on_error: 'ask' }), transfer('b', { deps: ['a'] })])
    const first = await open(chain)
    const run = first.begin(document, { id: 'one', inputs: {} })
    const [wait] = await parked(run, 1)
    const token = wait?.token ?? ''
    const command = { digest: wait?.digest ?? '', commandId: 'c1', by: 'ops' }
    const early = await run.approve(token, { ...command, digest: '0'.repeat(64) })
    expect(early).toEqual({ accepted: false, reason: 'digest_mismatch' })
    const both = [run.approve(token, command), run.approve(token, command)]
    expect(await Promise.all(both)).toEqual([
      { accepted: true },
      { accepted: true, repeated: true }
    ])
    const [failed] = await parked(run, 1)
    const decision = { digest: failed?.digest ?? '', commandId: 'c2', action: 'retry' } as const
    const reused = { ...decision, commandId: 'c1' }
    expect(await run.resume(failed?.token ?? '', reused)).toEqual({
      accepted: false,
      reason: 'command_id_reused'
    })
    expect(await run.resume(failed?.token ?? '', decision)).toEqual({ accepted: true })
    await first.close()
    const again = await open(chain)
    const on = await again.resume('one')
    const [second] = await parked(on, 1)
    const repeated = { accepted: true, repeated: true }
    expect(await on.approve(token, command)).toEqual(repeated)
    expect(await on.resume(failed?.token ?? '', decision)).toEqual(repeated)
    const refusal = { digest: second?.digest ?? '', commandId: 'c3' }
    expect(await on.deny(second?.token ?? '', refusal)).toEqual({ accepted: true })
    expect(await on.result).toMatchObject({ status: 'failed' })
    // A run that has ended answers the same, and refuses what it has not had.
    expect(await on.deny(second?.token ?? '', refusal)).toEqual(repeated)
    expect(await on.approve(token, command)).toEqual(repeated)
    expect(await on.approve(token, { ...command, commandId: 'c4' })).toMatchObject({
      accepted: false,
      reason: 'unknown_token'
    })
    expect(chain.functions).toEqual(['transfer'])
    await expect(
      on.approve(token, { ...command, commandId: 'c'.repeat(129) })
    ).rejects.toMatchObject({ code: 'core.limit_exceeded' })
    expect(await again.verify()).toMatchObject({ ok: true })
    await again.close()
  })
})

describe('simulation', () => {
  it('signs and sends nothing', async () => {
    const chain = new TestChain({ write: () => ({ success: true }) })
    const { tally, run } = await start(flow([transfer('a')]), {
      chain,
      host: { ...free, writes: 'simulate' }
    })
    await using _ = tally
    const { response } = await run.result
    expect(response.data).toMatchObject({
      nodes: { a: { data: { status: 'simulated', outputs: { success: true } } } }
    })
    expect(chain.functions).toEqual([])
  })
})
