import { z } from 'zod-pinned'
import { chainId } from './atoms.js'
import { hardConstraints, wholeText } from './protocol.js'

const assetName = z
  .string()
  .max(200)
  .regex(/^(\*|[a-z0-9]+:[A-Za-z0-9._-]+\/(native|(erc20|token|account):[A-Za-z0-9]+))$/)

const amounts = z.union([
  wholeText,
  z.record(assetName, wholeText).refine((given) => Object.keys(given).length <= ASSETS_MAX, {
    error: 'it names too many assets'
  })
])

const ASSETS_MAX = 4_096

/** Bounds of a policy, which are held to the decoded call (W15). */
export const packConstraints = hardConstraints.extend({
  max_spend: amounts.optional().meta({
    description: 'Of one call, in atomic units: of each asset, or by asset; `*` is any other.'
  }),
  max_spend_per_run: amounts.optional().meta({ description: 'Of all calls of a run, likewise.' }),
  max_approval: amounts.optional().meta({ description: 'In atomic units, likewise.' }),
  max_fee: amounts.optional().meta({ description: 'Of one transaction, by native asset.' }),
  max_fee_bps: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .meta({ description: 'Of the native value that a call sends, where it sends any.' }),
  allowed_recipients: z
    .array(z.strictObject({ chain: chainId, address: z.string().min(1).max(128) }))
    .max(4_096)
    .optional()
    .meta({ description: 'Who may be given assets or be allowed to take them.' })
})

export type PackConstraints = z.output<typeof packConstraints>
