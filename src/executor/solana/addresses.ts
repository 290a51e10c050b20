import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import { InvalidArgument } from '../invalid-argument.js'
import type { Pubkey } from './execution.js'
import type { Kit } from './kit.js'
import { addressBytes, layoutBytes } from './layout.js'

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'

export interface DerivedAddress {
  readonly address: string
  readonly bump: number
}

/** The account in which an owner holds a token, `{owner, mint, token_program?}`. */
export async function deriveAta(kit: Kit, params: Json, path: string): Promise<DerivedAddress> {
  const {
    owner,
    mint,
    token_program: program
  } = fields(params, path, ['owner', 'mint', 'token_program'])
  return derived(kit, ASSOCIATED_TOKEN_PROGRAM, [
    addressBytes(kit, owner, `${path}.owner`),
    addressBytes(kit, program ?? TOKEN_PROGRAM, `${path}.token_program`),
    addressBytes(kit, mint, `${path}.mint`)
  ])
}

/** The address that a program owns for these seeds, `{program, seeds}`; seeds as in a layout. */
export async function derivePda(kit: Kit, params: Json, path: string): Promise<DerivedAddress> {
  const { program, seeds } = fields(params, path, ['program', 'seeds'])
  addressBytes(kit, program, `${path}.program`)
  if (!Array.isArray(seeds)) throw new InvalidArgument(`${path}.seeds`, 'is not a list')
  const bytes = seeds.map((seed, index) => layoutBytes(kit, seed, `${path}.seeds.${index}`))
  try {
    return await derived(kit, program as string, bytes)
  } catch {
    throw new InvalidArgument(`${path}.seeds`, 'are none that an address can be derived from')
  }
}

/** The address of an account of an instruction. */
export async function pubkeyOf(kit: Kit, pubkey: Pubkey, path: string): Promise<string> {
  if (typeof pubkey === 'string') {
    addressBytes(kit, pubkey, path)
    return pubkey
  }
  const { address } =
    'derive_ata' in pubkey
      ? await deriveAta(kit, pubkey.derive_ata, `${path}.derive_ata`)
      : await derivePda(kit, pubkey.derive_pda, `${path}.derive_pda`)
  return address
}

async function derived(
  kit: Kit,
  program: string,
  seeds: readonly Uint8Array[]
): Promise<DerivedAddress> {
  const programAddress = kit.address(program)
  const [address, bump] = await kit.getProgramDerivedAddress({ programAddress, seeds: [...seeds] })
  return { address, bump }
}

function fields(params: Json, path: string, names: readonly string[]): JsonObject {
  if (!isJsonObject(params)) throw new InvalidArgument(path, 'is not an object')
  const extra = Object.keys(params).find((name) => !names.includes(name))
  if (extra !== undefined) throw new InvalidArgument(`${path}.${extra}`, 'is not known')
  return params
}
