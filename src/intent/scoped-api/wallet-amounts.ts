import { lazySchema } from '../../core/index.js'

/**
 * Amounts are whole numbers of an asset's smallest unit as decimal text: "10". Never a fraction, a
 * sign, a leading zero or an exponent, so that one amount has one text.
 */
export const amountText = lazySchema((z) =>
  z.string().regex(/^[1-9][0-9]{0,77}$/, 'an amount is digits, from 1')
)

/** Name of an asset; the seed's unit is the default. */
export const assetName = lazySchema((z) =>
  z
    .string()
    .regex(/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/, 'an asset is lower case')
    .default('frame')
)

/** Name of an account. Contacts map what people write to it. */
export const accountName = lazySchema((z) =>
  z.string().regex(/^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/, 'an account is lower case')
)

/** The account from which packages spend. */
export const OWN_ACCOUNT = 'self'

/** Largest supply: 78 digits hold any unsigned number of 256 bits. */
export const SUPPLY_MAX = 10n ** 78n - 1n
