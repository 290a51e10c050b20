import { z } from 'zod-pinned'
import { isAisType } from '../type/type.js'

/** Small parts that the schemas of AIS documents share (notes of the AIS 0.0.2 specification). */

const semverText = '(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?'

/** `1.2.3`, with an optional pre-release. */
export const semver = z
  .string()
  .max(64)
  .regex(new RegExp(`^${semverText}$`))

// As in AIS, a name may begin with a digit: 1inch.
const kebab = '[a-z0-9]+(-[a-z0-9]+)*'

export const protocolName = z
  .string()
  .max(64)
  .regex(new RegExp(`^${kebab}$`))

/** `name@x.y.z`: one version of one protocol. */
export const protocolReference = z
  .string()
  .max(130)
  .regex(new RegExp(`^${kebab}@${semverText}$`))
  .meta({ description: 'A protocol and its version, e.g. erc20@0.0.2.' })

const namespaces = '(eip155|solana|cosmos|bip122|aptos|sui)'

/** CAIP-2: a namespace and a reference. */
export const chainId = z
  .string()
  .max(96)
  .regex(new RegExp(`^${namespaces}:[A-Za-z0-9._-]+$`))
  .meta({ description: 'A chain as CAIP-2 writes it, e.g. eip155:1.' })

/** Key of an execution map: a chain, `namespace:*`, or `*`. */
export const chainPattern = z
  .string()
  .max(96)
  .regex(new RegExp(`^(\\*|${namespaces}:(\\*|[A-Za-z0-9._-]+))$`))

export const nodeId = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/)
  .meta({ description: 'Letters, digits, _ and -, beginning with a letter; at most 64.' })

/** Names of the steps of a composite; a digit may come first. */
export const stepId = z.string().regex(/^[A-Za-z0-9_-]{1,63}$/)

/** Names that a path of an expression may contain. */
export const memberName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)

export const label = z.string().min(1).max(128)

export const description = z.string().max(4_000)

/** Free data that is kept and never interpreted. */
export const extensions = z.record(z.string().max(128), z.json())

/** An object of AIS: no other members, but free data under `extensions`. */
export function aisObject<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject({ ...shape, extensions: extensions.optional() })
}

export const typeName = z
  .string()
  .max(256)
  .refine(isAisType, { error: 'it is not a type of AIS' })
  .meta({
    description:
      'address, bool, string, bytes, float, int8..int256, uint8..uint256, bytes1..bytes32, ' +
      'asset, token_amount, array<T>, tuple<T,...>'
  })
