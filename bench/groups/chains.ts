import type { Blockhash, Instruction, KeyPairSigner } from '@solana/kit'
import { type Json, present } from '../../src/core/index.js'
import { chainProviders, type Execution } from '../../src/executor/index.js'
import { solanaExecutor } from '../../src/executor/solana/index.js'
import { createRuntime, MEMORY_LOCATION } from '../../src/runtime/index.js'
import { FakeChain, fakeExecutor } from '../../src/testing/index.js'
import { type SolanaNode, startSolanaNode } from '../../src/testing/solana-node/index.js'
import { parseFlow, parseProtocol, planFlow, valuesFor } from '../../src/workflow/index.js'
import { type Contender, measured, median } from '../measure.js'
import { type Group, type Row, shown } from '../row.js'
import { flowOf, protocol, reading } from '../workflow-documents.js'

const NODES = 1_000
const WRITES = 20
const LAMPORTS = 1_000_000_000_000n
const EVM = 'eip155:1'
const SOLANA = 'solana:fake'
const SYSTEM_PROGRAM = '11111111111111111111111111111111'

/**
 * 1,000 nodes over an EVM chain and Solana, planned, and run on fakes; and a write to Solana from
 * preparing to its status beside the same through kit alone. All by processor time of all threads.
 */
export const chains: Group = {
  rows: ['chains.1000.plan', 'chains.1000.run', 'solana.write', 'solana.write.kit'],
  async measure({ rounds }) {
    return [
      bounded('chains.1000.plan', await planMs(rounds), 200),
      bounded('chains.1000.run', await runMs(rounds), 500),
      ...(await solanaRows(rounds))
    ]
  }
}

/** Each node reads what the one before it on the other chain gave, ten beside each other. */
function overBoth(): Json {
  const nodes = Array.from({ length: NODES }, (_, index) => {
    const before = `nodes.n${index - 11}.outputs.value`
    const of: Json = index < 11 ? { lit: String(index) } : { ref: before }
    return reading(`n${index}`, of, { chain: index % 2 === 0 ? EVM : SOLANA })
  })
  return flowOf('bench-chains', nodes)
}

/** Of a document that is parsed and planned for the first time in each round. */
async function planMs(rounds: number): Promise<number> {
  const values = await valuesFor({ cel: '' })
  const read = parseProtocol(protocol)
  if (!read.ok) throw new Error(JSON.stringify(read.issues))
  return cpuMs(rounds, async () => {
    const parsed = parseFlow(overBoth())
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
    const planned = planFlow({ flow: parsed.document, protocols: [read.document], values })
    if (!planned.ok) throw new Error(JSON.stringify(planned.issues))
  })
}

async function runMs(rounds: number): Promise<number> {
  const read = () => ({ value: '1' })
  const fakes = [EVM, SOLANA].map((id) =>
    fakeExecutor({
      chains: [new FakeChain({ id, read })],
      accounts: { default: '0xbench' },
      executions: { evm_rpc: 'read' }
    })
  )
  await using tally = await createRuntime({
    location: MEMORY_LOCATION,
    providers: chainProviders(fakes),
    workflow: { protocols: [protocol] }
  })
  return await cpuMs(rounds, async () => {
    const { status } = await tally.begin(overBoth(), {}).result
    if (status !== 'done') throw new Error(`a run ended as ${status}`)
  })
}

/** Median processor time, after two rounds that warm up. */
async function cpuMs(rounds: number, work: () => Promise<void>): Promise<number> {
  const times: number[] = []
  for (let round = -2; round < rounds; round += 1) {
    const from = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(from)
    if (round >= 0) times.push((user + system) / 1_000)
  }
  return present(median(times), 'a median')
}

function bounded(name: string, value: number, target: number): Row {
  const unit = 'ms of processor'
  return { name, value, unit, floor: null, ratio: null, target, better: 'lower' }
}

async function solanaRows(rounds: number): Promise<readonly Row[]> {
  const kit = await import('@solana/kit')
  const payer = await kit.createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(1))
  const other = await kit.createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(2))
  const { address } = payer
  const balances = { [address]: LAMPORTS, [other.address]: LAMPORTS }
  await using node = await startSolanaNode({ balances })
  const publicKey = kit.getAddressEncoder().encode(address)
  const key = JSON.stringify([...new Uint8Array(32).fill(1), ...publicKey])
  const staged = stagedWrites(node, { key, from: address, to: other.address })
  const found = await measured([kitWrites(kit, node, payer, other.address), staged], rounds)
  const usOf = (name: string) => present(found.get(name), name).cpuUs
  const [value, floor] = [usOf('staged') / 1_000, usOf('kit') / 1_000]
  const unit = 'ms of processor'
  const write = { name: 'solana.write', value, unit, floor, ratio: value / floor }
  return [
    { ...write, target: 1.1, better: 'lower' },
    shown('solana.write.kit', floor, unit, 'lower')
  ]
}

const data = (lamports: number): Json => [{ u32: 2 }, { u64: String(lamports) }]

/** The stages of a write, one after the other, without a run around them. */
function stagedWrites(
  node: SolanaNode,
  { key, from, to }: { readonly key: string; readonly from: string; readonly to: string }
): Contender {
  const solana = solanaExecutor({
    chains: { [node.id]: { rpc: [node.url], signer: 'env:KEY' } },
    environment: { KEY: key }
  })
  const signal = new AbortController().signal
  const accounts: Json = [
    { name: 'from', pubkey: from, signer: true, writable: true },
    { name: 'to', pubkey: to, signer: false, writable: true }
  ]
  let writes = 0
  const write = async () => {
    writes += 1
    const call = { key: `bench ${writes}`, signal }
    const about = { program: SYSTEM_PROGRAM, instruction: 'transfer', accounts }
    const execution = { type: 'solana_instruction', ...about, data: data(writes) } as Execution
    const prepared = await solana.prepare({ chain: node.id, execution }, call)
    if (prepared.kind !== 'signed') throw new Error('nothing was signed')
    const { raw: _, ...asked } = prepared.transaction
    await solana.broadcast(prepared.transaction, call)
    const look = { ...asked, execution, expected: null }
    for (;;) if ((await solana.look(look, call)).status === 'included') return
  }
  return { name: 'staged', run: () => times(write), close: async () => undefined }
}

/** The same with kit alone: blockhash, simulation for the units, signature, status. */
function kitWrites(
  kit: typeof import('@solana/kit'),
  node: SolanaNode,
  payer: KeyPairSigner,
  to: string
): Contender {
  const rpc = kit.createSolanaRpc(node.url as 'http://127.0.0.1')
  const budget = kit.address('ComputeBudget111111111111111111111111111111')
  const { WRITABLE, WRITABLE_SIGNER } = kit.AccountRole
  let writes = 0
  const transfer = (): Instruction => {
    const bytes = new Uint8Array(12)
    const view = new DataView(bytes.buffer)
    view.setUint32(0, 2, true)
    view.setBigUint64(4, BigInt(writes) + 1_000_000n, true)
    const accounts = [
      { address: payer.address, role: WRITABLE_SIGNER, signer: payer },
      { address: kit.address(to), role: WRITABLE }
    ]
    return { programAddress: kit.address(SYSTEM_PROGRAM), accounts, data: bytes }
  }
  const wireOf = async (
    units: number,
    lifetime: { readonly blockhash: Blockhash; readonly lastValidBlockHeight: bigint }
  ) => {
    const limit = new Uint8Array(5)
    limit[0] = 2
    new DataView(limit.buffer).setUint32(1, units, true)
    const instructions: readonly Instruction[] = [
      { programAddress: budget, data: limit },
      transfer()
    ]
    const message = kit.pipe(
      kit.createTransactionMessage({ version: 0 }),
      (one) => kit.setTransactionMessageFeePayerSigner(payer, one),
      (one) => kit.setTransactionMessageLifetimeUsingBlockhash(lifetime, one),
      (one) => kit.appendTransactionMessageInstructions(instructions, one)
    )
    const signed = await kit.signTransactionMessageWithSigners(message)
    const signature = kit.getSignatureFromTransaction(signed)
    return { wire: kit.getBase64EncodedWireTransaction(signed), signature }
  }
  const write = async () => {
    writes += 1
    const { value: lifetime } = await rpc.getLatestBlockhash().send()
    const draft = await wireOf(1_400_000, lifetime)
    const encoding = { encoding: 'base64' } as const
    const { value } = await rpc.simulateTransaction(draft.wire, encoding).send()
    const units = Number(value.unitsConsumed ?? 300n) + 300
    const { wire, signature } = await wireOf(units, lifetime)
    await rpc.sendTransaction(wire, { ...encoding, skipPreflight: true }).send()
    for (;;) if ((await rpc.getSignatureStatuses([signature]).send()).value[0] != null) return
  }
  return { name: 'kit', run: () => times(write), close: async () => undefined }
}

async function times(write: () => Promise<void>): Promise<number> {
  for (let index = 0; index < WRITES; index += 1) await write()
  return WRITES
}
