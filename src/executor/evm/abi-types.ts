import { z } from 'zod-pinned'

/** One input or output of a JSON ABI fragment. */
export interface AbiParameter {
  readonly name: string
  readonly type: string
  readonly components?: readonly AbiParameter[] | undefined
  readonly indexed?: boolean | undefined
}

/** A function of a contract. */
export interface AbiFunction {
  readonly type: 'function'
  readonly name: string
  readonly inputs: readonly AbiParameter[]
  readonly outputs: readonly AbiParameter[]
  readonly stateMutability: 'pure' | 'view' | 'nonpayable' | 'payable'
}

/** A custom error of a contract. */
export interface AbiError {
  readonly type: 'error'
  readonly name: string
  readonly inputs: readonly AbiParameter[]
}

/** An event of a contract. */
export interface AbiEvent {
  readonly type: 'event'
  readonly name: string
  readonly inputs: readonly AbiParameter[]
  readonly anonymous?: boolean | undefined
}

const name = z.string().regex(/^[A-Za-z_$][A-Za-z0-9_$]*$/)
const parameter: z.ZodType<AbiParameter> = z.lazy(() =>
  z.object({
    name: z.string().default(''),
    type: z.string().regex(/^(tuple|function|[a-z]+[0-9]*)(\[[0-9]*\]){0,4}$/),
    components: z.array(parameter).max(ABI_PARAMETERS_MAX).optional(),
    indexed: z.boolean().optional()
  })
) as z.ZodType<AbiParameter>
const ABI_PARAMETERS_MAX = 64
const parameters = z.array(parameter).max(ABI_PARAMETERS_MAX)

/** A fragment as an object, or as its JSON text. */
function fragmentOf<Fragment>(schema: z.ZodType<Fragment>): z.ZodType<Fragment> {
  return z.preprocess((value, context) => {
    if (typeof value !== 'string') return value
    try {
      return JSON.parse(value) as unknown
    } catch {
      context.addIssue({ code: 'custom', message: 'the ABI is not JSON' })
      return z.NEVER
    }
  }, schema) as z.ZodType<Fragment>
}

export const abiFunction = fragmentOf<AbiFunction>(
  z.object({
    type: z.literal('function'),
    name,
    inputs: parameters.default([]),
    outputs: parameters.default([]),
    stateMutability: z.enum(['pure', 'view', 'nonpayable', 'payable']).default('nonpayable')
  })
)

export const abiError = fragmentOf<AbiError>(
  z.object({ type: z.literal('error'), name, inputs: parameters.default([]) })
)

export const abiEvent = fragmentOf<AbiEvent>(
  z.object({
    type: z.literal('event'),
    name,
    inputs: parameters.default([]),
    anonymous: z.boolean().optional()
  })
)
