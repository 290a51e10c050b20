import { limits, ManualClock, type Random } from '../../core/index.js'
import { generateIdentity, type LocalSigner, type Signer } from '../../identity/index.js'
import type { Store } from '../../ledger/index.js'
import { FaultyDisk, type FaultyDiskOptions } from '../faulty-store.js'
import { Life } from './life.js'

/** Fixed, so that receipts of different runs can be compared byte by byte. */
export const fixedKeys = generateIdentity({
  bytes: (length) => new Uint8Array(length).fill(7),
  uuid: () => '00000000-0000-4000-8000-000000000007'
})

/** Fixed for the same reason. */
export const fixedRandom: Random = {
  bytes: (length) => new Uint8Array(length).fill(3),
  uuid: () => '00000000-0000-4000-8000-000000000003'
}

const fixedSigner = fixedKeys.signer()

/** Signs at once and in this thread: whatever happens then takes turns of the loop, never time. */
export function inlineSigner(signer: LocalSigner = fixedSigner): Signer {
  return { publicKey: signer.publicKey, sign: (message) => signedOnce(signer, message) }
}

// A memo of a pure function, not state: the plays of a case sign much of the same.
const signaturesBy = new WeakMap<LocalSigner, Map<string, Uint8Array>>()

function signedOnce(signer: LocalSigner, message: Uint8Array): Uint8Array {
  const signatures = signaturesBy.get(signer) ?? new Map<string, Uint8Array>()
  signaturesBy.set(signer, signatures)
  const text = Buffer.from(message.buffer, message.byteOffset, message.byteLength).toString(
    'latin1'
  )
  const known = signatures.get(text)
  if (known !== undefined) return known
  const signature = signer.sign(message)
  if (signatures.size >= limits.CACHE_ENTRIES_MAX) signatures.clear()
  signatures.set(text, signature)
  return signature
}

/** What outlives the processes of a machine, and knows which of them lives. */
export interface Outliving {
  life: Life
}

/** A disk, a clock and a world that outlive the processes that use them. */
export class Machine<World extends Outliving> {
  readonly disk: FaultyDisk
  readonly clock: ManualClock
  readonly world: World

  constructor(world: World, options: MachineParts = {}) {
    const { seed = 1, clock = new ManualClock(), disk } = options
    this.disk = new FaultyDisk(seed, disk)
    this.clock = clock
    this.world = world
  }

  /** Begins a life; `dieAt` is the boundary at which it ends. */
  begin(dieAt?: number): { readonly life: Life; readonly store: Store } {
    const life = new Life({ dieAt, died: () => this.disk.crash('power') })
    this.world.life = life
    return { life, store: life.store(this.disk.open()) }
  }
}

export interface MachineParts {
  readonly seed?: number
  readonly clock?: ManualClock
  readonly disk?: FaultyDiskOptions
}
