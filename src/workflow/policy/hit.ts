/** What speaks against an action. */
export interface PolicyHit {
  readonly reason:
    | 'risk_level'
    | 'approval_required'
    | 'token_not_listed'
    | 'recipient_not_listed'
    | 'plugin_not_enabled'
    | 'constraint'
    | 'undecoded'
    | 'preview_missing'
  readonly message: string
  /** Refused, not only asked about. */
  readonly isHard: boolean
}
