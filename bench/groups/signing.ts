import { generateIdentity, type LocalSigner } from '../../src/identity/index.js'
import { SignedRecord, SigningQueue } from '../../src/ledger/commit/signing.js'
import { type Contender, measured } from '../measure.js'
import type { Group } from '../row.js'

const AT_ONCE = 64
const WAVES = 100
const IDENTITIES = 100
const BYTES_MAX = 500_000

/**
 * What a signature costs in processor time of all threads, 64 records to a flush: against signing
 * them one after the other in the calling thread. And what an identity holds once it has signed.
 */
export const signing: Group = {
  rows: ['signing.64', 'signing.identities', 'signing.bytes-per-identity'],
  async measure({ rounds }) {
    const bytes = await bytesOfIdentities()
    const signer = generateIdentity().signer()
    const times = await measured(
      [
        inline('inline', signer),
        queued('one', [new SigningQueue(signer)]),
        queued(
          'many',
          new Array(AT_ONCE).fill(0).map(() => new SigningQueue(signer))
        )
      ],
      rounds
    )
    await signer.close()
    const cpu = (name: string) => times.get(name)?.cpuUs ?? 0
    const floor = cpu('inline')
    const limit = { unit: 'us', floor, target: null, better: 'lower' } as const
    return [
      { ...limit, name: 'signing.64', value: cpu('one'), ratio: cpu('one') / floor },
      { ...limit, name: 'signing.identities', value: cpu('many'), ratio: cpu('many') / floor },
      {
        name: 'signing.bytes-per-identity',
        value: bytes,
        unit: 'bytes',
        floor: null,
        ratio: null,
        target: BYTES_MAX,
        better: 'lower'
      }
    ]
  }
}

const record = (number: number) => {
  const hash = number.toString(16).padStart(64, '0')
  return new SignedRecord({ hash, before: '', after: '' } as SignedRecord['unsigned'])
}

function inline(name: string, signer: LocalSigner): Contender {
  return {
    name,
    run: async () => {
      for (let number = 0; number < WAVES * AT_ONCE; number += 1) {
        signer.sign(Buffer.from(record(number).unsigned.hash, 'hex'))
      }
      return WAVES * AT_ONCE
    },
    close: async () => undefined
  }
}

/** Waves of 64 records, spread over these queues. */
function queued(name: string, queues: readonly SigningQueue[]): Contender {
  return {
    name,
    run: async () => {
      for (let wave = 0; wave < WAVES; wave += 1) await sign(queues, AT_ONCE / queues.length)
      return WAVES * AT_ONCE
    },
    close: async () => {
      for (const queue of queues) await queue.close()
    }
  }
}

async function sign(queues: readonly SigningQueue[], each: number): Promise<void> {
  for (let number = 0; number < each; number += 1) {
    for (const queue of queues) queue.add(record(number))
  }
  for (const queue of queues) await queue.finish()
}

/** Resident bytes for each of many identities that have signed. */
async function bytesOfIdentities(): Promise<number> {
  const open = () => {
    const signer = generateIdentity().signer()
    return { signer, queue: new SigningQueue(signer) }
  }
  const first = open()
  await sign([first.queue], AT_ONCE)
  const before = process.memoryUsage().rss
  const others = Array.from({ length: IDENTITIES }, open)
  for (let wave = 0; wave < 10; wave += 1) {
    await sign(
      others.map(({ queue }) => queue),
      10
    )
  }
  const bytes = process.memoryUsage().rss - before
  for (const { signer, queue } of [first, ...others]) {
    await queue.close()
    await signer.close()
  }
  return bytes / IDENTITIES
}
