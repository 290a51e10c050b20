import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '../../src/core/index.js'
import { aisText, seedProtocols } from '../support/ais.js'
import { documentOf, Project } from '../support/project.js'

/** Workflows as they are typed: lint, plan, dry run, run, patch, approve, diagnose. */

const config = `
import { defineConfig } from 'tallystick'
const at = (transaction) => ({ status: 'included', success: true, blockNumber: 1,
  blockHash: '0x00', confirmations: 1, outputs: { tx_hash: transaction }, revert: null })
export default defineConfig({
  providers: [
    { name: 'chain.account', perform: () => ({ address: '0x${'1'.repeat(40)}', canSign: true }) },
    { name: 'chain.read', perform: () => ({ balance: '7' }) },
    { name: 'chain.prepare', perform: ({ request, key }) => ({ kind: 'signed',
      terms: { confirmations: 1, pollMs: 5, timeoutMs: 1000 },
      transaction: { chain: request.chain, from: '0x1', hash: '0x' + key, nonce: 0,
        validUntil: null, raw: '0x' } }) },
    { name: 'chain.broadcast', perform: ({ request }) =>
      ({ hash: request.transaction.hash, answer: 'accepted' }) },
    { name: 'chain.look', perform: ({ request }) => at(request.hash) }
  ]
})
`

/** A chain whose account holds nothing, and whose programs refuse. */
const saying = `
import { defineConfig, EffectFailure } from 'tallystick'
const failure = { code: 'reverted', phase: 'read', chain: 'eip155:1', executionType: 'evm_read',
  retryable: false, sent: false, message: 'the program refuses', logs: ['Program log: too little'],
  programError: { program: 'swap', instruction: 0, name: 'slippage', code: '6001' } }
const poor = { about: 'fees', code: 'insufficient_funds', message: 'it holds nothing',
  isPassing: false, subject: null }
export default defineConfig({
  providers: [
    { name: 'chain.account', perform: () => ({ address: '0x${'1'.repeat(40)}', canSign: true }) },
    { name: 'chain.ready', perform: ({ request }) =>
      ({ chain: request.chain, problems: [poor], unchecked: [] }) },
    { name: 'chain.read', perform: () => {
      throw new EffectFailure('reverted', { definite: true, details: failure })
    } }
  ]
})
`

const rightHash = `0x${'1'.repeat(64)}`
const wrongHash = `0x${'3'.repeat(64)}`

/** A wallet outside signs, and a chain that knows what it has sent by one hash. */
const outside = config
  .replace('canSign: true', 'canSign: false')
  .replace(
    /\(\{ kind: 'signed',[\s\S]*?raw: '0x' \} \}\)/,
    `({ kind: 'unsigned',
      terms: { confirmations: 1, pollMs: 5, timeoutMs: 1000 },
      transaction: { chain: request.chain, from: '0x1', payload: { to: '0x2' } } })`
  )
  .replace(
    'at(request.hash)',
    `request.hash === '${rightHash}' ? at(request.hash) : { status: 'mismatch', fields: ['to'] }`
  )

const flow = `
schema: ais-flow/0.0.3
meta: { name: pay, version: 1.0.0 }
default_chain: "eip155:1"
imports: { protocols: [{ protocol: erc20@0.0.2, path: ./erc20.yaml }] }
inputs: { amount: { type: uint256, required: true } }
nodes:
  - id: check
    type: query_ref
    protocol: erc20@0.0.2
    query: balance
    args:
      token: { lit: { chain_id: "eip155:1", address: "0x${'a'.repeat(40)}" } }
      owner: { ref: ctx.wallet_address }
    assert: { cel: "nodes.check.outputs.balance >= inputs.amount" }
    on_error: ask
  - id: pay
    type: action_ref
    protocol: erc20@0.0.2
    action: transfer
    deps: [check]
    args:
      token: { lit: { chain_id: "eip155:1", address: "0x${'a'.repeat(40)}" } }
      to: { lit: "0x${'b'.repeat(40)}" }
      amount: { ref: inputs.amount }
`

let project: Project
beforeAll(async () => {
  project = await Project.create()
  await project.write('tally.config.ts', config)
  await project.write('pay.yaml', flow)
  await project.write('bridge.yaml', aisText('bridge'))
  for (const name of seedProtocols) await project.write(`${name}.yaml`, aisText(name))
  expect((await project.tally(['init', '--insecure-plaintext-key'])).code).toBe(0)
})
afterAll(() => project.remove())

const protocols = seedProtocols.flatMap((name) => ['--protocol', `${name}.yaml`])

describe('before a run', () => {
  it('lint and plan say what the workflow of the seed will do', async () => {
    const linted = await project.tally(['lint', 'bridge.yaml', ...protocols, '--json'])
    expect(linted.code).toBe(0)
    expect(documentOf(linted, 'lint')).toMatchObject({ ok: true })
    const planned = await project.tally(['plan', 'bridge.yaml', ...protocols, '--json'])
    expect(documentOf(planned, 'plan')).toMatchObject({
      planHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      plan: { schema: 'ais-plan/0.0.3', name: 'demo' }
    })
    const drawn = await project.tally(['plan', 'bridge.yaml', ...protocols, '--format', 'mermaid'])
    expect([drawn.code, drawn.stdout]).toEqual([0, expect.stringContaining('flowchart')])
    const source = ['graph', 'bridge.yaml', ...protocols, '--format', 'xstate']
    const chart = await project.tally(source)
    expect([chart.code, chart.stdout]).toEqual([0, expect.stringContaining('createMachine(')])
    const missing = await project.tally(['plan', 'bridge.yaml', '--json'])
    expect(missing.code).toBe(2)
    expect(missing.stdout).toContain('unknown_protocol')
  })

  it('a protocol that is named stands for the import of the same one', async () => {
    await project.write('far.yaml', flow.replace('./erc20.yaml', '../out/erc20.yaml'))
    const alone = await project.tally(['graph', 'far.yaml'])
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('use --protocol')])
    const named = await project.tally(['graph', 'far.yaml', ...protocols])
    expect([named.code, named.stdout]).toEqual([0, expect.stringContaining('s_check')])
  })

  it('names the options that a workflow needs for its imports from elsewhere', async () => {
    const file = fileURLToPath(
      new URL('../../examples/06-bridge/bridge-and-deposit.yaml', import.meta.url)
    )
    const alone = await project.tally(['graph', file, '--format', 'xstate'])
    const needed = alone.stderr.match(/--protocol \S+\.yaml/g) ?? []
    expect([alone.code, needed]).toEqual([2, [expect.stringContaining('03-evm-transfer/erc20')]])
    const options = needed.flatMap((one) => one.split(' '))
    const chart = await project.tally(['graph', file, '--format', 'xstate', ...options])
    expect([chart.code, chart.stdout]).toEqual([0, expect.stringContaining('createMachine(')])
  })

  it('a plan of AIS is written, and taken wherever its workflow is', async () => {
    const planned = await project.tally(['plan', 'pay.yaml', '--format', 'ais-plan'])
    expect(planned.code).toBe(0)
    const plan = JSON.parse(planned.stdout)
    expect(plan).toMatchObject({ schema: 'ais-plan/0.0.3', meta: { name: 'pay' } })
    await project.write('pay.plan.json', planned.stdout)
    const words = ['--dry-run', '--inputs', '{"amount":"5"}', '--json']
    const ctx = ['--ctx', `{"wallet_address":"0x${'1'.repeat(40)}"}`]
    const [there, back] = [
      await project.tally(['run', 'pay.yaml', ...words, ...ctx]),
      await project.tally(['run', 'pay.plan.json', ...words, ...ctx])
    ]
    expect(documentOf(back, 'dry-run')).toMatchObject({
      nodes: (documentOf(there, 'dry-run') as { readonly nodes: Json }).nodes
    })
    plan.nodes[1].execution.args.to = { lit: `0x${'c'.repeat(40)}` }
    await project.write('other.plan.json', JSON.stringify(plan))
    const refused = await project.tally(['run', 'other.plan.json', ...words, ...ctx])
    expect([refused.code, refused.stdout]).toEqual([2, expect.stringContaining('plan_mismatch')])
  })

  it('the events of a run are lines of JSON, and a checkpoint is one document', async () => {
    const words = ['run', 'pay.yaml', '--id', 'told', '--inputs', '{"amount":"5"}']
    await project.tally(words)
    const told = await project.tally(['events', 'told'])
    const lines = told.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index))
    expect(lines[0]).toMatchObject({ run_id: 'told', event: { type: 'plan_ready' } })
    const saved = await project.tally(['events', 'told', '--checkpoint'])
    expect(JSON.parse(saved.stdout)).toMatchObject({ schema: 'ais-engine-checkpoint/0.0.2' })
  })

  it('a dry run resolves what can be resolved, without a ledger', async () => {
    const words = ['run', 'pay.yaml', '--dry-run', '--inputs', '{"amount":"5"}']
    const ctx = ['--ctx', `{"wallet_address":"0x${'1'.repeat(40)}"}`]
    const dry = await project.tally([...words, ...ctx, '--dir', 'nowhere', '--json'])
    expect(dry.code).toBe(0)
    expect(documentOf(dry, 'dry-run')).toMatchObject({
      nodes: [
        { id: 'check', state: 'ready' },
        { id: 'pay', state: 'ready', execution: { args: { value: '5' } } }
      ]
    })
    await expect(readFile(project.path('nowhere/marker.json'))).rejects.toThrow()
    await project.write('said.config.ts', saying)
    const told = await project.tally([...words, ...ctx, '--config', 'said.config.ts'])
    expect([told.code, told.stdout]).toEqual([
      0,
      expect.stringContaining('missing fees insufficient_funds: it holds nothing (check, pay)')
    ])
    const offline = await project.tally([...words, ...ctx, '--offline', '--json'])
    const look = { id: 'run__preflight', chains: [{ chain: 'eip155:1', missing: null }] }
    expect(documentOf(offline, 'dry-run')).toMatchObject({ preflight: [look] })
    const planned = await project.tally(['plan', 'pay.yaml'])
    expect(planned.stdout).toContain('run__preflight looks before everything')
  })

  it('an import is the file that it was, and lies beside the workflow', async () => {
    const integrity = `sha256:${'0'.repeat(64)}`
    const pinned = `{ protocol: erc20@0.0.2, path: ./erc20.yaml, integrity: ${integrity} }`
    const plain = '{ protocol: erc20@0.0.2, path: ./erc20.yaml }'
    await project.write('pinned.yaml', flow.replace(plain, pinned))
    const refused = await project.tally(['lint', 'pinned.yaml'])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('its hash differs')
    await project.write('above.yaml', flow.replace('./erc20.yaml', '../erc20.yaml'))
    expect((await project.tally(['lint', 'above.yaml'])).stderr).toContain('beside')
  })
})

describe('a run', () => {
  it('asks, is given what it lacks, fails, is mended, approved, and verified', async () => {
    const started = await project.tally(['run', 'pay.yaml', '--id', 'one'])
    expect(started.code).toBe(4)
    const lacks = await project.tally(['diagnose', 'one', '--json'])
    expect(documentOf(lacks, 'diagnosis')).toMatchObject({
      status: 'waiting',
      troubles: [
        { nodeId: 'check', kind: 'missing', request: { missing: [{ path: 'inputs.amount' }] } }
      ]
    })
    const gives = ['patch', 'one', 'check', 'inputs.amount=9', '--command-id', 'nine']
    expect((await project.tally(gives)).code).toBe(4)
    const poor = await project.tally(['diagnose', 'one'])
    expect(poor.stdout).toContain('assert_failed')
    expect(poor.stdout).toContain('tally patch one check inputs.amount=JSON')
    // W10: the node waits again, and the command that was given before is not given again.
    const repeated = await project.tally(gives)
    expect([repeated.code, repeated.stderr]).toEqual([
      4,
      expect.stringContaining('nine was given before')
    ])
    expect((await project.tally(['patch', 'one', 'check', 'inputs.amount=6'])).code).toBe(4)
    const asks = await project.tally(['diagnose', 'one', '--json'])
    expect(documentOf(asks, 'diagnosis')).toMatchObject({
      troubles: [{ nodeId: 'pay', kind: 'confirm', request: { arguments: { amount: '6' } } }],
      past: [{ nodeId: 'check', code: 'assert_failed' }]
    })
    expect((await project.tally(['approve', 'one', '--by', 'ops'])).code).toBe(0)
    const verified = await project.tally(['verify', '--replay', '--json'])
    expect(documentOf(verified, 'verification')).toMatchObject({ ok: true })
  })

  it('W14: a patch that does not fit whole is refused, and the question stays', async () => {
    const words = ['run', 'pay.yaml', '--id', 'five', '--inputs', '{"amount":"9"}']
    expect((await project.tally(words)).code).toBe(4)
    const before = documentOf(await project.tally(['diagnose', 'five', '--json']), 'diagnosis')
    const wrong = [
      ['inputs.amount="5,5"', 'inputs.amount: it is not a whole number'],
      ['input.amount=5', 'input.amount: only inputs, ctx, contracts, policy can be changed'],
      ['inputs.ammount=5', 'inputs.ammount: the workflow has no input ammount']
    ] as const
    for (const [change, reason] of wrong) {
      const refused = await project.tally(['patch', 'five', 'check', change])
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(reason)])
    }
    const after = documentOf(await project.tally(['diagnose', 'five', '--json']), 'diagnosis')
    expect(after).toEqual(before)
    expect((await project.tally(['abort', 'five', 'check'])).code).toBe(1)
  })

  it('a failed node is tried again, or fails its run', async () => {
    const words = ['run', 'pay.yaml', '--id', 'four', '--inputs', '{"amount":"9"}']
    expect((await project.tally(words)).code).toBe(4)
    const again = await project.tally(['retry', 'four', 'check', '--json'])
    expect([again.code, again.stdout]).toEqual([4, expect.stringContaining('assert_failed')])
    const ended = await project.tally(['abort', 'four', 'check', '--json'])
    expect(ended.code).toBe(1)
    expect(documentOf(ended, 'result')).toMatchObject({
      status: 'failed',
      response: { details: { nodes: { check: { reason: 'assert_failed' } } } }
    })
    const late = await project.tally(['skip', 'four', 'check'])
    expect([late.code, late.stderr]).toEqual([2, expect.stringContaining('nothing to skip')])
  })

  it('W10, W15: is shown what programs said, and what is missing at first', async () => {
    await project.write('said.config.ts', saying)
    const given = ['--inputs', '{"amount":"5"}', '--config', 'said.config.ts']
    expect((await project.tally(['run', 'pay.yaml', '--id', 'said', ...given])).code).toBe(4)
    const missing = await project.tally(['diagnose', 'said'])
    for (const line of [
      'not_ready: 1 thing is missing, found before anything was sent',
      'eip155:1 fees: insufficient_funds: it holds nothing (check, pay)',
      'tally retry said run__preflight',
      'tally skip said run__preflight',
      'tally abort said run__preflight'
    ]) {
      expect(missing.stdout).toContain(line)
    }
    expect(missing.stdout).not.toContain('tally patch')
    const skip = ['skip', 'said', 'run__preflight', '--config', 'said.config.ts']
    expect((await project.tally(skip)).code).toBe(4)
    const told = await project.tally(['diagnose', 'said'])
    for (const line of ['slippage', 'log Program log: too little', 'program', 'attempt 1, 0 ms']) {
      expect(told.stdout).toContain(line)
    }
  })

  it('W13: goes by --on-error after a failure of which its workflow says nothing', async () => {
    const inputs = ['--inputs', '{"amount":"9"}', '--broadcast', '--yes']
    await project.write('unsaid.yaml', flow.replace('    on_error: ask\n', ''))
    const run = (id: string, ...more: readonly string[]) =>
      project.tally(['run', 'unsaid.yaml', '--id', id, ...inputs, ...more])
    expect((await run('unsaid')).code).toBe(4)
    expect((await run('asking', '--on-error', 'ask')).code).toBe(4)
    expect((await run('stopping', '--on-error', 'stop')).code).toBe(1)
    const refused = await run('other', '--on-error', 'maybe')
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('--on-error is ask, stop or continue')
    ])
  })

  it('each command that diagnose prints is taken', async () => {
    const inputs = ['--inputs', '{"amount":"9"}', '--broadcast', '--yes']
    for (const command of ['retry', 'patch', 'skip', 'abort']) {
      expect((await project.tally(['run', 'pay.yaml', '--id', command, ...inputs])).code).toBe(4)
      const told = await project.tally(['diagnose', command])
      const printed = told.stdout.split('\n').filter((line) => line.startsWith('  tally '))
      expect(printed).toEqual([
        `  tally retry ${command} check`,
        `  tally patch ${command} check inputs.amount=JSON`,
        `  tally patch ${command} check ctx.wallet_address=JSON`,
        `  tally skip ${command} check`,
        `  tally abort ${command} check`
      ])
      const line = printed.find((one) => one.startsWith(`  tally ${command} `)) ?? ''
      const words = line.replace('JSON', '"8"').trim().split(' ').slice(1)
      const ends = { retry: 4, patch: 4, skip: 0, abort: 1 }
      expect([command, (await project.tally(words)).code]).toEqual([
        command,
        ends[command as keyof typeof ends]
      ])
    }
  })

  it('W13: a wrong hash of a wallet outside is corrected by the command that diagnose prints', async () => {
    await project.write('outside.config.ts', outside)
    const given = ['--inputs', '{"amount":"5"}', '--broadcast', '--config', 'outside.config.ts']
    const begun = await project.tally(['run', 'pay.yaml', '--id', 'outside', '--yes', ...given])
    expect(begun.code).toBe(4)
    /** The command for an action as it is printed, filled in, and carried out. */
    const typed = async (action: string, gap: string, filled: string) => {
      const { stdout } = await project.tally(['diagnose', 'outside', '--offline'])
      const line = stdout.split('\n').find((one) => one.startsWith(`  tally ${action} outside `))
      const words = (line ?? action).replace(gap, filled).trim().split(' ').slice(1)
      const { code } = await project.tally([...words, '--config', 'outside.config.ts'])
      return [line, code]
    }
    const [asked, waits] = await typed('resume', 'JSON', JSON.stringify({ hash: wrongHash }))
    expect([asked, waits]).toEqual([expect.stringContaining('--value JSON'), 4])
    expect(await typed('patch', 'HASH', rightHash)).toEqual([
      `  tally patch outside pay transaction_hash.${wrongHash}=HASH`,
      0
    ])
  })

  it('inputs of another type are wrong usage, and nothing begins', async () => {
    const words = ['run', 'pay.yaml', '--id', 'wrong', '--inputs', '{"amount":"-1"}']
    const refused = await project.tally(words)
    expect([refused.code, refused.stdout]).toEqual([2, expect.stringContaining('inputs.amount')])
    expect((await project.tally(['show', 'wrong'])).code).toBe(2)
  })

  it('sends by itself only with --broadcast, and asks for what the policy wants', async () => {
    const inputs = ['--inputs', '{"amount":"5"}']
    const two = ['run', 'pay.yaml', '--id', 'two', '--broadcast', '--json']
    const asks = await project.tally([...two, ...inputs])
    expect(asks.code).toBe(4)
    expect(asks.stdout).toContain('risk_level')
    expect(asks.stdout).not.toContain('not_broadcast')
    const shown = asks.documents.filter(({ $type }) => String($type).endsWith('event'))
    expect(shown).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ type: 'log', message: 'query_result' }),
        expect.objectContaining({ type: 'log', message: 'need_user_confirm' }),
        expect.objectContaining({ type: 'run.parked' })
      ])
    )
    const words = ['run', 'pay.yaml', '--id', 'three', '--broadcast', '--yes', ...inputs]
    expect((await project.tally(words)).code).toBe(0)
  })

  it('W10: is asked whether what it has as confirmed still stands, and says what is lost', async () => {
    const forgets = config.replace('=> at(request.hash)', "=> ({ status: 'unknown' })")
    await project.write('forgets.config.ts', forgets)
    const diagnose = ['diagnose', 'three', '--config', 'forgets.config.ts']
    const lost = await project.tally([...diagnose, '--on-chain', '--json'])
    expect(lost.code).toBe(1)
    expect(documentOf(lost, 'diagnosis')).toMatchObject({
      status: 'done',
      transactions: [
        {
          path: 'root/pay',
          recorded: { blockNumber: 1 },
          found: { status: 'gone' },
          diagnostic: {
            code: 'reorged_out',
            nodeId: 'pay',
            executionType: 'evm_call',
            actions: ['retry', 'ask_user']
          },
          sentAgain: null
        }
      ]
    })
    const unasked = await project.tally([...diagnose, '--json'])
    const about = (told: typeof lost) => documentOf(told, 'diagnosis')?.['transactions']
    expect([unasked.code, about(unasked)]).toEqual([1, about(lost)])
    const offline = await project.tally([...diagnose, '--offline', '--json'])
    expect([offline.code, about(offline)]).toEqual([0, undefined])
    expect((await project.tally([...diagnose, '--offline', '--on-chain'])).code).toBe(2)
    const sent = await project.tally([...diagnose, '--send-again'])
    expect(sent.code).toBe(1)
    expect(sent.stdout).toContain('reorged_out')
    expect(sent.stdout).toContain('sent again: accepted')
  })
})
