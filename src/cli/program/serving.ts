import { Option } from 'commander'
import { type Add, configOption } from './add.js'
import { needing } from './workflows.js'

/** Commands that serve the ledger to other programs. */
export function addServingCommands(add: Add): void {
  const publish = async () => (await import('../publish.js')).publish
  needing(add('publish [file]', 'let agents run a document by its name, or list those', publish))
    .option('--name <name>', 'another name than its own')
    .option('--withdraw <name>', 'take back what is published under this name')
    .option(...configOption)
  const developing = async () => (await import('../dev.js')).dev
  add('dev', 'hold the ledger, open the console, and load code again when it changes', developing)
    .option('--open', 'open a browser, on a terminal')
    .option('--port <port>', 'where to listen; any that is free unless told otherwise')
    .option(...configOption)
    .addOption(new Option('--hold').hideHelp())
  add('mcp', 'serve the ledger to an MCP client', async () => (await import('../mcp.js')).mcp)
    .option('--http <port>', 'over HTTP on loopback instead of the standard streams')
    .option('--allow-documents', 'let it run documents of its own, under the grants of its agent')
    .option('--allow-answers', 'let it answer questions of runs that others started')
    .option('--as <name>', 'in whose name it asks', 'mcp')
    .option(...configOption)
}
