import { type Add, configOption } from './add.js'

/** Commands about intents and what packages may do. */
export function addIntentCommands(add: Add): void {
  add('intent <action>', 'have something done', async () => (await import('../intent.js')).intent)
    .option('--payload <json>', 'what it is done with: JSON, or @file', '{}')
    .option('--id <id>', 'names it; the same id is the same work')
    .option('--provider <name>', 'package or block that is to do it')
    .option('--raw <text>', 'the words from which it was made')
    .option('--context <json>', 'what its block finds in ctx.context: a JSON object, or @file')
    .option('--trace <traceparent>', 'trace of the caller, in the form of W3C Trace Context')
    .option(...configOption)
  add(
    'grant <package> [capabilities...]',
    'let a package do what it declares',
    async () => (await import('../grant.js')).grant
  )
  add(
    'revoke <package> [capabilities...]',
    'take grants back',
    async () => (await import('../grant.js')).revoke
  )
  add(
    'permissions',
    'list what is granted',
    async () => (await import('../permissions.js')).permissions
  )
  add(
    'prefer <subject> [package]',
    'choose who answers an action',
    async () => (await import('../prefer.js')).prefer
  )
}
