/** An ERC-20 token that is there from the beginning. */
export interface EvmToken {
  readonly address: string
  /** Default: `Token`, `TKN`, 18. */
  readonly name?: string
  readonly symbol?: string
  readonly decimals?: number
  /** Who has how much in the beginning, in its smallest units. */
  readonly balances: Readonly<Record<string, bigint>>
}
