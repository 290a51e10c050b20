import { isJsonObject, type Json, type JsonObject, sha256 } from '../../core/index.js'
import { isOnCurve } from '../../identity/index.js'
import { InvalidArgument } from '../invalid-argument.js'
import { base58Text } from './base58.js'
import type { Pubkey } from './execution.js'
import { addressBytes, layoutBytes } from './layout.js'

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'

/** The bump is one of them. */
const SEEDS_MAX = 16
const SEED_BYTES_MAX = 32

export interface DerivedAddress {
  readonly address: string
  readonly bump: number
}

/** The account in which an owner holds a token, `{owner, mint, token_program?}`. */
export function deriveAta(params: Json, path: string): DerivedAddress {
  const {
    owner,
    mint,
    token_program: program
  } = fields(params, path, ['owner', 'mint', 'token_program'])
  const found = derived(ASSOCIATED_TOKEN_PROGRAM, [
    addressBytes(owner, `${path}.owner`),
    addressBytes(program ?? TOKEN_PROGRAM, `${path}.token_program`),
    addressBytes(mint, `${path}.mint`)
  ])
  if (found === undefined) throw new InvalidArgument(path, 'is nothing that an address has')
  return found
}

/** The address that a program owns for these seeds, `{program, seeds}`; seeds as in a layout. */
export function derivePda(params: Json, path: string): DerivedAddress {
  const { program, seeds } = fields(params, path, ['program', 'seeds'])
  addressBytes(program, `${path}.program`)
  if (!Array.isArray(seeds)) throw new InvalidArgument(`${path}.seeds`, 'is not a list')
  const bytes = seeds.map((seed, index) => layoutBytes(seed, `${path}.seeds.${index}`))
  const found = derived(program as string, bytes)
  if (found !== undefined) return found
  throw new InvalidArgument(`${path}.seeds`, 'are none that an address can be derived from')
}

/** The address of an account of an instruction. */
export function pubkeyOf(pubkey: Pubkey, path: string): string {
  if (typeof pubkey === 'string') {
    addressBytes(pubkey, path)
    return pubkey
  }
  const { address } =
    'derive_ata' in pubkey
      ? deriveAta(pubkey.derive_ata, `${path}.derive_ata`)
      : derivePda(pubkey.derive_pda, `${path}.derive_pda`)
  return address
}

/** As the runtime finds it: the first that no key belongs to, from the highest bump down. */
function derived(program: string, seeds: readonly Uint8Array[]): DerivedAddress | undefined {
  const isFit = seeds.length < SEEDS_MAX && seeds.every(({ length }) => length <= SEED_BYTES_MAX)
  if (!isFit) return undefined
  const end = [addressBytes(program, 'program'), Buffer.from('ProgramDerivedAddress')]
  for (let bump = 255; bump > 0; bump -= 1) {
    const bytes = sha256(Buffer.concat([...seeds, Uint8Array.of(bump), ...end]))
    if (!isOnCurve(bytes)) return { address: base58Text(bytes), bump }
  }
  return undefined
}

function fields(params: Json, path: string, names: readonly string[]): JsonObject {
  if (!isJsonObject(params)) throw new InvalidArgument(path, 'is not an object')
  const extra = Object.keys(params).find((name) => !names.includes(name))
  if (extra !== undefined) throw new InvalidArgument(`${path}.${extra}`, 'is not known')
  return params
}
