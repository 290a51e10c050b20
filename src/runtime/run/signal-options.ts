/** What a caller says of a signal beside its name and value. */
export interface SignalOptions {
  /**
   * Names the signal in its run, such as the id of a webhook's delivery: sent again with the same
   * name and value, also after a crash, it changes nothing. By default every call sends another.
   */
  readonly id?: string
  /** Who sends it, as they call themselves: kept as "claimed" (K13). */
  readonly by?: string
}
