import { isJsonObject, type Json } from '../../../src/core/index.js'
import type { Execution } from '../../../src/executor/index.js'
import { parseExecution } from '../../../src/executor/solana/execution.js'
import { type RpcTransport, solanaExecutor } from '../../../src/executor/solana/index.js'
import type { FuzzTarget } from '../target.js'
import { answeringLines, outcomesOf } from './node-lines.js'

const genesis = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const chain = `solana:${genesis}`
const account = 'GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB'
const system = '11111111111111111111111111111111'
const hash = '5'.repeat(88)
const { signal } = new AbortController()

const write = {
  type: 'solana_instruction',
  program: system,
  instruction: 'transfer',
  accounts: [{ name: 'from', pubkey: account, signer: true, writable: true }],
  data: [{ u32: 2 }, { u64: '5' }]
}

function executorOf(transport?: RpcTransport) {
  return solanaExecutor({
    chains: { [chain]: { rpc: ['https://node.invalid/'] } },
    ...(transport === undefined ? {} : { transport })
  })
}

const reads = ['getBalance', 'getAccountInfo', 'getTokenAccountBalance', 'getSignatureStatuses']

async function askNode(input: Buffer): Promise<unknown> {
  const lines = answeringLines(input, { method: 'getGenesisHash', answer: `${genesis}pGc` })
  const solana = executorOf(lines.transport)
  const options = { key: 'k', signal }
  const execution = write as unknown as Execution
  const look = { chain, hash, from: account, nonce: null, execution }
  const expected = { instructions: [{ program: system, accounts: [account], data: 'x' }] }
  const read = (method: string) => {
    const params = method === 'getSignatureStatuses' ? [[hash]] : [account]
    const asked = { type: 'solana_read', method, params } as unknown as Execution
    return () => solana.read({ chain, execution: asked }, options)
  }
  return outcomesOf(lines, [
    ...reads.map(read),
    () => solana.look({ ...look, validUntil: 5, lifetime: { slot: 1 }, expected: null }, options),
    () => solana.look({ ...look, validUntil: null, expected }, options),
    () => solana.simulate({ chain, execution, account }, options)
  ])
}

export const solanaTargets: Readonly<Record<string, FuzzTarget>> = {
  'solana-node': { readers: ['executor/solana/read.ts#readSolana'], isSlow: true, read: askNode },
  'solana-execution': {
    readers: ['executor/solana/execution.ts#parseExecution'],
    read: async (input) => {
      const value = JSON.parse(input.toString('utf8')) as Json
      if (!isJsonObject(value)) return null
      const execution = value as unknown as Execution
      const parsed = parseExecution(execution)
      const problem = await executorOf().check(execution)
      return parsed.ok ? (problem ?? null) : parsed.problem
    },
    expects: (thrown) => thrown instanceof SyntaxError
  }
}
