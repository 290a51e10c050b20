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
    .option('--subject <name>', 'whose data it is about: kept under a key that can be erased')
    .option(...configOption)
  add(
    'grant <subject> [capabilities...]',
    'let a package do what it declares, or an agent use a block or package',
    async () => (await import('../grant.js')).grant
  )
    .option('--agent <name>', 'the agent that may use it')
    .option(...configOption)
  add(
    'revoke <subject> [capabilities...]',
    'take grants back',
    async () => (await import('../grant.js')).revoke
  )
    .option('--agent <name>', 'the agent that may use it no longer')
    .option(...configOption)
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
