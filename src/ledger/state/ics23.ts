import { type Hash, unreachable } from '../../core/index.js'
import { hexToBytes } from '../merkle.js'
import type { LeafProof, Sibling, StateProof } from './proof.js'

/**
 * State proofs in the shape of ICS-23, for verifiers that know its `tendermintSpec` and nothing of
 * us. ICS-23 hashes values itself and knows no value hashes, so the value texts are asked for,
 * those of the neighbours too. It has no proof for the empty tree.
 *
 * In its terms the key is the 32 bytes of sha256(key), the value the UTF-8 bytes of JCS(value).
 */
export type Ics23CommitmentProof =
  | { readonly exist: Ics23ExistenceProof }
  | {
      readonly nonexist: {
        readonly key: Uint8Array
        readonly left: Ics23ExistenceProof | null
        readonly right: Ics23ExistenceProof | null
      }
    }

export interface Ics23ExistenceProof {
  readonly key: Uint8Array
  readonly value: Uint8Array
  readonly leaf: {
    readonly hash: number
    readonly prehashKey: number
    readonly prehashValue: number
    readonly length: number
    readonly prefix: Uint8Array
  }
  readonly path: readonly Ics23InnerStep[]
}

export interface Ics23InnerStep {
  readonly hash: number
  readonly prefix: Uint8Array
  readonly suffix: Uint8Array
}

// Numbers of cosmos.ics23.v1.HashOp and LengthOp.
const NO_HASH = 0
const SHA256 = 1
const VAR_PROTO = 1

/** Canonical JSON of the value of a key hash. */
export type ValueTextOf = (keyHash: Hash) => string

/** The proof as ICS-23's `CommitmentProof`. */
export function toIcs23(proof: StateProof, valueTextOf: ValueTextOf): Ics23CommitmentProof {
  switch (proof.type) {
    case 'membership':
      return { exist: existence(proof.leaf, valueTextOf) }
    case 'absence':
      return {
        nonexist: {
          key: hexToBytes(proof.keyHash),
          left: proof.left === null ? null : existence(proof.left, valueTextOf),
          right: proof.right === null ? null : existence(proof.right, valueTextOf)
        }
      }
    default:
      return unreachable(proof)
  }
}

function existence(leaf: LeafProof, valueTextOf: ValueTextOf): Ics23ExistenceProof {
  return {
    key: hexToBytes(leaf.keyHash),
    value: new TextEncoder().encode(valueTextOf(leaf.keyHash)),
    leaf: {
      hash: SHA256,
      prehashKey: NO_HASH,
      prehashValue: SHA256,
      length: VAR_PROTO,
      prefix: Uint8Array.of(0x00)
    },
    path: leaf.path.map(step)
  }
}

function step(sibling: Sibling): Ics23InnerStep {
  return 'left' in sibling
    ? {
        hash: SHA256,
        prefix: Uint8Array.of(0x01, ...hexToBytes(sibling.left)),
        suffix: new Uint8Array()
      }
    : { hash: SHA256, prefix: Uint8Array.of(0x01), suffix: hexToBytes(sibling.right) }
}
