import type { Provider } from '../../block/index.js'
import {
  type Block,
  defineBlock,
  type EffectCall,
  EffectFailure,
  type SideEffectClass
} from '../../code/index.js'
import {
  agentError,
  type Hash,
  isJsonObject,
  type Json,
  type JsonObject,
  type Redactor
} from '../../core/index.js'
import { redactorOf } from '../binding/given-secrets.js'
import { loadMcpClient } from './library.js'
import { McpLink } from './link.js'
import type { McpServerPlace } from './place.js'
import { capabilityOf, type McpTool } from './tool.js'

/** An MCP server whose tools become effects. */
export interface McpServerOptions {
  /** A lower-case word: part of every capability's name, `mcp.<name>.<tool>`. */
  readonly name: string
  readonly place: McpServerPlace
  /**
   * What calling a tool may do outside, by the tool's name. Unset means `non_idempotent`, whatever
   * the server says of itself.
   */
  readonly sideEffects?: Readonly<Record<string, SideEffectClass>>
  /** Only these tools, by name. Default: all. */
  readonly tools?: readonly string[]
}

/** The tools of an MCP server, ready to be registered with a runtime. */
export interface McpCapabilities {
  readonly tools: readonly (McpTool & { readonly capability: string })[]
  /** A leaf for each tool, named as its capability; its payload is the tool's arguments. */
  readonly blocks: readonly Block[]
  /** Answer the effects of the leaves. */
  readonly providers: readonly Provider[]
  close(): Promise<void>
}

/**
 * Connects to an MCP server and makes a capability of each of its tools (provider kind `mcp`). The
 * schemas are those of now: a tool whose schema changes later is refused until it is connected
 * anew, under another code hash, which needs grants of its own (K5). Throws
 * `agent.mcp_unreachable`, `agent.duplicate_tool`,
 * `agent.missing_library`.
 *
 * @example
 * const files = await connectMcpServer({ name: 'files', place: { command: 'mcp-files' } })
 * const tally = await createRuntime({ blocks: files.blocks, providers: files.providers, ... })
 */
export async function connectMcpServer(options: McpServerOptions): Promise<McpCapabilities> {
  const { name: server, place, sideEffects = {}, tools: wanted } = options
  const redactor = secretsOf(place, server)
  const link = new McpLink(await loadMcpClient(), place)
  try {
    const listed = await toolsOf(link, server)
    const tools = listed
      .filter(({ name }) => wanted === undefined || wanted.includes(name))
      .map((tool) => ({ ...tool, capability: capabilityOf(server, tool.name) }))
    refuseDuplicates(tools.map(({ capability }) => capability))
    return {
      tools,
      blocks: tools.map((tool) => blockOf(tool, sideEffects[tool.name] ?? 'non_idempotent')),
      providers: tools.map((tool) => ({ ...providerOf(tool, link), redactor })),
      close: () => link.close()
    }
  } catch (error) {
    await link.close()
    throw error
  }
}

function secretsOf(place: McpServerPlace, server: string): Redactor {
  const owner = `mcp.${server}`
  if (!('url' in place)) return redactorOf(place.environment, owner)
  const redactor = redactorOf(place.headers, owner)
  redactor.knowAddress(`${owner}.url`, place.url)
  return redactor
}

async function toolsOf(link: McpLink, server: string): Promise<readonly McpTool[]> {
  try {
    return await link.tools()
  } catch (error) {
    const problem = error instanceof EffectFailure ? error.reason : 'it does not speak MCP'
    throw agentError('agent.mcp_unreachable', { server, problem })
  }
}

function refuseDuplicates(names: readonly string[]): void {
  const capability = names.find((name, at) => names.indexOf(name) !== at)
  if (capability !== undefined) throw agentError('agent.duplicate_tool', { capability })
}

type Tool = McpCapabilities['tools'][number]

function blockOf(tool: Tool, sideEffects: SideEffectClass): Block {
  const { capability, name, schemaHash } = tool
  const block = defineBlock({
    name: capability,
    version: schemaHash,
    sideEffects,
    capabilities: [capability],
    intents: [capability],
    run: (ctx, input) => {
      const given: JsonObject = isJsonObject(input as Json) ? (input as JsonObject) : {}
      return ctx.effect(capability, { request: { tool: name, schemaHash, arguments: given } })
    }
  })
  return Object.freeze({ ...block, codeHash: schemaHash, needsGrant: true as const })
}

function providerOf({ capability, name, schemaHash }: Tool, link: McpLink): Provider {
  return {
    name: capability,
    perform: async ({ key, request, signal }: EffectCall) => {
      // Only the leaf of this tool asks for this effect; one of an earlier process, whose server
      // was another, perhaps by another schema.
      const asked = request as { readonly schemaHash: Hash; readonly arguments: JsonObject }
      const now = (await currentTools(link)).find((tool) => tool.name === name)
      if (asked.schemaHash !== schemaHash || now?.schemaHash !== schemaHash) {
        const details = { expected: asked.schemaHash, actual: now?.schemaHash ?? null }
        throw new EffectFailure('tool_changed', { definite: true, details })
      }
      return link.call({ name, arguments: asked.arguments, key }, signal)
    }
  }
}

// Nothing was called yet, whatever goes wrong.
async function currentTools(link: McpLink): Promise<readonly McpTool[]> {
  try {
    return await link.tools()
  } catch {
    throw new EffectFailure('unreachable', { definite: true })
  }
}
