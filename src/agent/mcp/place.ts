/*
 * Apart from what connects, so that the types of this package name no part of the MCP SDK: it is
 * optional, and who does not have it has no types of it.
 */

/** The program of an MCP server. The host names it, never a document. */
export interface McpProgram {
  readonly command: string
  readonly arguments?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** Where an MCP server is. The host names it, never a document. */
export type McpServerPlace =
  | McpProgram
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> }
