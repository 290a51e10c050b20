import { agentError } from '../../core/index.js'

/** The parts of the MCP SDK that a client needs. Throws `agent.missing_library`. */
export function loadMcpClient() {
  return loaded(async () => ({
    ...(await import('@modelcontextprotocol/sdk/client/index.js')),
    ...(await import('@modelcontextprotocol/sdk/client/stdio.js')),
    ...(await import('@modelcontextprotocol/sdk/client/streamableHttp.js')),
    ...(await import('@modelcontextprotocol/sdk/types.js'))
  }))
}

/** The parts of the MCP SDK that a server needs. Throws `agent.missing_library`. */
export function loadMcpServer() {
  return loaded(async () => ({
    ...(await import('@modelcontextprotocol/sdk/server/mcp.js')),
    ...(await import('@modelcontextprotocol/sdk/server/streamableHttp.js')),
    ...(await import('@modelcontextprotocol/sdk/types.js'))
  }))
}

export type McpClientLibrary = Awaited<ReturnType<typeof loadMcpClient>>
export type McpServerLibrary = Awaited<ReturnType<typeof loadMcpServer>>

async function loaded<Library>(load: () => Promise<Library>): Promise<Library> {
  try {
    return await load()
  } catch (cause) {
    throw agentError('agent.missing_library', { library: '@modelcontextprotocol/sdk' }, { cause })
  }
}
