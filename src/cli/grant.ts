import { cliError, isHash, isJsonObject, type Json, type JsonObject } from '../core/index.js'
import type { ExitCode, Frame } from './frame/frame.js'
import { askIntent } from './frame/intent.js'
import { openSession, type Session } from './frame/session.js'

export interface GrantOptions {
  /** Name of the agent that may use the code, or no longer. */
  readonly agent?: string
  readonly config?: string
}

/**
 * `tally grant PACKAGE [CAPABILITY...]`: lets the installed code of a package do something (K5).
 * With `--agent`: lets an agent use the code of a block or package (K14).
 */
export function grant(
  frame: Frame,
  subject: string,
  capabilities: readonly string[],
  options: GrantOptions
): Promise<ExitCode> {
  const { agent } = options
  if (agent !== undefined) {
    return changeFor(frame, 'system.grant', { ...options, agent, subject, capabilities })
  }
  return change(frame, 'system.grant', { subject, capabilities, whenNone: 'declared' })
}

/** `tally revoke PACKAGE [CAPABILITY...]`: takes grants back; all of them when none is named. */
export function revoke(
  frame: Frame,
  subject: string,
  capabilities: readonly string[],
  options: GrantOptions
): Promise<ExitCode> {
  const { agent } = options
  if (agent !== undefined) {
    return changeFor(frame, 'system.revoke', { ...options, agent, subject, capabilities })
  }
  return change(frame, 'system.revoke', { subject, capabilities, whenNone: 'granted' })
}

/** Looked up where the ledger is held: only there the code is known. */
async function changeFor(
  frame: Frame,
  action: 'system.grant' | 'system.revoke',
  asked: GrantOptions & {
    readonly agent: string
    readonly subject: string
    readonly capabilities: readonly string[]
  }
): Promise<ExitCode> {
  const { agent, subject, capabilities, config } = asked
  const session = await openSession(frame, 'run', { config })
  const named = capabilities.length === 0 ? {} : { capabilities: [...capabilities] }
  const payload = { principal: { kind: 'agent', id: agent }, subject, ...named }
  return askIntent(frame, session, { action, payload })
}

async function change(
  frame: Frame,
  action: 'system.grant' | 'system.revoke',
  asked: {
    readonly subject: string
    readonly capabilities: readonly string[]
    readonly whenNone: 'declared' | 'granted'
  }
): Promise<ExitCode> {
  const { subject, capabilities, whenNone } = asked
  const session = await openSession(frame, 'run')
  let named = [...capabilities]
  if (named.length === 0) {
    const all = await capabilitiesOf(session, subject)
    named = all.filter((one) => whenNone === 'declared' || one.granted).map(({ name }) => name)
  }
  if (named.length === 0) {
    await session.close()
    throw cliError('cli.usage', { problem: `${subject} has no capability to change` })
  }
  const about = isHash(subject) ? { codeHash: subject } : { package: subject }
  return askIntent(frame, session, { action, payload: { ...about, capabilities: named } })
}

/** What an installed package declares, and whether it is granted. */
async function capabilitiesOf(
  session: Session,
  subject: string
): Promise<readonly { readonly name: string; readonly granted: boolean }[]> {
  const reply = await session.client.request('intent', { action: 'system.packages' })
  const packages = reply.type === 'dapp' ? (reply['packages'] as Json) : []
  const found = (Array.isArray(packages) ? packages : [])
    .filter((one): one is JsonObject => isJsonObject(one))
    .find(({ id, codeHash }) => id === subject || codeHash === subject)
  const declared = found?.['capabilities']
  // Written by this program: the list of the system intent.
  return (declared ?? []) as unknown as readonly {
    readonly name: string
    readonly granted: boolean
  }[]
}
