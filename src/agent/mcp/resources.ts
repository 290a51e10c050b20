import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { type Json, limits } from '../../core/index.js'
import type { McpHost } from './host.js'
import type { McpServerLibrary } from './library.js'

const mimeType = 'application/json'

/**
 * The ledger as resources: `ledger://<identity>/status`, `/published`, `/runs`, `/runs/<id>`,
 * `/receipts`, `/receipts/<index or hash>`.
 */
export function addResources(server: McpServer, library: McpServerLibrary, host: McpHost): void {
  const { ResourceTemplate } = library
  const listed = {
    list: async () => {
      const { identity } = await host.status()
      const resources = ['status', 'runs', 'receipts', 'published'].map((name) => {
        return { name, uri: `ledger://${String(identity)}/${name}`, mimeType }
      })
      return { resources }
    }
  }
  server.registerResource(
    'ledger',
    new ResourceTemplate('ledger://{identity}/{what}', listed),
    { description: 'Status, published documents, runs and the last receipts.', mimeType },
    async (uri, { what }) => contents(uri, await overview(host, uri, String(what)))
  )
  server.registerResource(
    'run',
    new ResourceTemplate('ledger://{identity}/runs/{id}', { list: undefined }),
    { description: 'One run.', mimeType },
    async (uri, { id }) => {
      await refuseOther(host, uri)
      return contents(uri, await host.showRun(decodeURIComponent(String(id))))
    }
  )
  server.registerResource(
    'receipt',
    new ResourceTemplate('ledger://{identity}/receipts/{which}', { list: undefined }),
    { description: 'One receipt, by its place in the chain or its hash.', mimeType },
    async (uri, { which }) => {
      await refuseOther(host, uri)
      const text = String(which)
      const asked = /^\d{1,15}$/.test(text) ? { index: Number(text) } : { hash: text }
      return contents(uri, await host.receipt(asked))
    }
  )
}

async function overview(host: McpHost, uri: URL, what: string): Promise<Json> {
  await refuseOther(host, uri)
  switch (what) {
    case 'status':
      return host.status()
    case 'runs':
      return { runs: await host.runs() }
    case 'receipts':
      return { receipts: await host.receipts({ last: limits.MCP_RECEIPTS_LISTED }) }
    case 'published':
      return { published: await host.published() }
    default:
      throw new Error('There is no such resource.')
  }
}

/** One server serves one ledger. */
async function refuseOther(host: McpHost, uri: URL): Promise<void> {
  const { identity } = await host.status()
  if (uri.host !== identity) throw new Error('This is not the ledger of that identity.')
}

function contents(uri: URL, value: Json) {
  return { contents: [{ uri: uri.href, mimeType, text: JSON.stringify(value) }] }
}
