import { type Hash, hashJson, isJsonObject, type Json, type JsonObject } from '../../core/index.js'

/** A tool of an MCP server, as it stands on its list. */
export interface McpTool {
  /** As the server names it. */
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject
  readonly outputSchema?: JsonObject
  /**
   * Takes the place of the code hash: allowing this tool allows these schemas. The code
   * behind them is the server's, and no one here can measure it.
   */
  readonly schemaHash: Hash
  /** What the server says of itself. Nothing is decided by it. */
  readonly untrustedHints: JsonObject
}

/** A tool from the server's list; undefined for one that cannot be used. */
export function toolOf(listed: unknown): McpTool | undefined {
  // The SDK has checked the list against the protocol; a round trip leaves plain JSON.
  const plain = JSON.parse(JSON.stringify(listed)) as Json
  if (!isJsonObject(plain)) return undefined
  const { name, description = '', inputSchema, outputSchema, annotations = {} } = plain
  if (typeof name !== 'string' || !isJsonObject(inputSchema)) return undefined
  const output = isJsonObject(outputSchema) ? { outputSchema } : {}
  return {
    name,
    description: typeof description === 'string' ? description : '',
    inputSchema,
    ...output,
    schemaHash: hashJson({ name, inputSchema, ...output }),
    untrustedHints: isJsonObject(annotations) ? annotations : {}
  }
}

/**
 * The capability of a tool: `mcp.<server>.<tool>` in lower case, anything but letters, digits, `_`
 * and `-` as `_`.
 */
export function capabilityOf(server: string, tool: string): string {
  const word = tool.toLowerCase().replace(/[^a-z0-9_-]/g, '_')
  return `mcp.${server}.${/^[a-z]/.test(word) ? word : `t${word}`}`
}
