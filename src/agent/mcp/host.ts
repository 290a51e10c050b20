import type { Json, JsonObject } from '../../core/index.js'

/**
 * What an MCP server shows of a ledger and its runs. The host that serves it says in whose name:
 * nothing here takes a principal from a caller (K13). Everything is plain JSON.
 */
export interface McpHost {
  /** `identity`, `mode`, `receipts` and more. */
  status(): Promise<JsonObject>
  /** Whether callers may run documents of their own; otherwise only published ones. */
  readonly allowsDocuments?: boolean
  /** Documents that callers may run by name. */
  published(): Promise<readonly Json[]>
  /**
   * Starts a run, or attaches to the one of this id, and tells how it stands when it rests. Runs
   * the document that is published under a name, or where that is allowed one that is given.
   */
  run(params: {
    readonly published?: string
    readonly document?: string
    readonly id?: string
    readonly inputs?: Json
  }): Promise<JsonObject>
  showRun(id: string): Promise<JsonObject>
  runs(): Promise<readonly Json[]>
  receipt(which: { readonly hash?: string; readonly index?: number }): Promise<JsonObject>
  /** The last ones. */
  receipts(options: { readonly last: number }): Promise<readonly Json[]>
  verify(options: { readonly replay: boolean }): Promise<JsonObject>
  /** Absent where intents are not served. */
  submitIntent?(intent: {
    readonly id?: string
    readonly action: string
    readonly payload?: JsonObject
  }): Promise<JsonObject>
  /** Absent unless the owner allowed answers. Refuses waits that the same caller caused. */
  answer?(answer: {
    readonly run: string
    readonly token: string
    readonly digest: string
    readonly action: 'approve' | 'deny' | 'resume'
    readonly value?: Json
  }): Promise<JsonObject>
}
