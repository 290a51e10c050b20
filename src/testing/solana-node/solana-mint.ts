/** A mint of the SPL Token program that is there from the beginning. */
export interface SolanaMint {
  readonly address: string
  /** Default 9. */
  readonly decimals?: number
  /** Who may mint more. Default: no account. */
  readonly authority?: string
  /** Who has how much in the beginning, in its smallest units, in associated token accounts. */
  readonly balances?: Readonly<Record<string, bigint>>
}
