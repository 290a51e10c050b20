import { type Add, configOption } from './add.js'

/** Commands that serve the ledger to other programs. */
export function addServingCommands(add: Add): void {
  add('mcp', 'serve the ledger to an MCP client', async () => (await import('../mcp.js')).mcp)
    .option('--http <port>', 'over HTTP on loopback instead of the standard streams')
    .option('--allow-answers', 'let it answer questions of runs that others started')
    .option('--as <name>', 'in whose name it asks', 'mcp')
    .option(...configOption)
}
