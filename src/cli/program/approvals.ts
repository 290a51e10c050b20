import { type Add, configOption, waitOption } from './add.js'

/** Commands about signed answers, below `tally approval`. */
export function addApprovalCommands(add: Add): void {
  const loaded = () => import('../approval.js')
  const outputOption = ['--output <file>', 'write it to a new file'] as const
  add('key <file>', 'make a key for an approver', async () => (await loaded()).makeKey).option(
    '--insecure-plaintext-key',
    'store the key in plain text, for demonstrations'
  )
  const request = async () => (await loaded()).request
  add('request <run> [token]', 'write what an approver has to be shown', request).option(
    ...outputOption
  )
  add('show [file]', 'show a request and compute its digest', async () => (await loaded()).show)
  add('sign [file]', 'sign an answer to a request', async () => (await loaded()).sign)
    .requiredOption('--as <keyfile>', 'key file of the approver')
    .option('--action <action>', 'approve, deny, resume, retry, patch, skip or abort', 'approve')
    .option('--value <json>', 'value of the answer: JSON, or @file')
    .option(...outputOption)
  add('submit [file]', 'give a run what was signed', async () => (await loaded()).submit)
    .option('--by <name>', 'who brings it; kept as a claim')
    .option('--command-id <id>', 'given again with the same id, the command changes nothing')
    .option(...waitOption)
    .option(...configOption)
}
