import { ManualClock } from '../../core/index.js'
import { openMemoryStore } from '../../ledger/index.js'
import {
  type Compilations,
  type Registrations,
  runtimeOn,
  type WiredRuntime
} from '../../runtime/index.js'
import { fixedKeys, fixedRandom, inlineSigner } from './machine.js'

/** A runtime by which a target is read and compiled, and in which nothing runs. */
export function probeRuntime(
  registrations: Registrations,
  compilations: Compilations
): Promise<WiredRuntime> {
  return runtimeOn({
    ...registrations,
    compilations,
    store: openMemoryStore(),
    keys: fixedKeys,
    signer: inlineSigner(),
    clock: new ManualClock(),
    random: fixedRandom,
    durability: 'output'
  })
}
