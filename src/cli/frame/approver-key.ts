import { resolve } from 'node:path'
import { cliError, isTallyError } from '../../core/index.js'
import {
  type Approval,
  type KeySignature,
  loadKeyFile,
  type SignedAnswer,
  signApproval
} from '../../identity/index.js'
import type { Frame } from './frame.js'
import { askPassphrase, canAsk } from './passphrase.js'
import type { Wait } from './render.js'

/** The passphrase of an approver's key file: another one than that of the ledger's key. */
export function approverPassphrase(frame: Frame): string | undefined {
  return frame.environment['TALLY_APPROVER_PASSPHRASE']
}

/**
 * Signs an answer with the key of a file. Throws `cli.usage` for a key or an action that the wait
 * does not take, and what {@link loadKeyFile} throws.
 */
export async function signedWith(
  frame: Frame,
  file: string,
  { wait, answer }: { readonly wait: Wait; readonly answer: SignedAnswer }
): Promise<Approval> {
  const { actions, approvers } = wait
  if (!actions.some((one) => one === answer.action)) {
    const problem = `this wait ends by ${actions.join(' or ')}, not by ${answer.action}`
    throw cliError('cli.usage', { problem })
  }
  const signature = await signatureOf(frame, file, answer)
  if (approvers?.keys.some((key) => key === signature.key) === false) {
    const problem = `the key ${signature.key} is none of the approvers of this wait`
    throw cliError('cli.usage', { problem })
  }
  const { action, digest, token, value } = answer
  return { action, digest, ...signature, token, value }
}

async function signatureOf(
  frame: Frame,
  file: string,
  answer: SignedAnswer
): Promise<KeySignature> {
  const path = resolve(frame.cwd, file)
  const load = (passphrase: string | undefined) => loadKeyFile({ path, passphrase })
  let keys: Awaited<ReturnType<typeof load>>
  try {
    keys = await load(approverPassphrase(frame))
  } catch (error) {
    if (!isTallyError(error, 'identity.passphrase_missing') || !canAsk()) throw error
    keys = await load(await askPassphrase('Passphrase of the approver: '))
  }
  const { seed } = keys
  try {
    return signApproval(answer, seed)
  } finally {
    seed.fill(0)
  }
}
