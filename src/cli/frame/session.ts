import { isTallyError } from '../../core/index.js'
import type { RuntimeOptions, TallyConfig } from '../../runtime/index.js'
import { localClient, ownerClient, type ServiceClient } from './client.js'
import { findConfig, loadConfig } from './config.js'
import type { Frame } from './frame.js'
import { atHolder } from './holder.js'
import { askPassphrase, canAsk, givenPassphrase } from './passphrase.js'
import { text } from './text.js'

/** A ledger to ask: held by this command, or by a service that it talks to. */
export interface Session {
  readonly client: ServiceClient
  /** `owner`: another process holds the ledger, and its runs continue without us. */
  readonly holder: 'owner' | 'us'
  close(): Promise<void>
}

/**
 * `read`: no key. `sign`: the key. `run`: the key, and the configuration with its blocks. `take
 * over`: the key, for a ledger that was imported.
 */
export type Need = 'read' | 'sign' | 'run' | 'take over'

/**
 * Reaches a ledger: through the socket of its holder, or by opening it. Two commands that
 * open it at once take turns. Throws the codes of opening.
 */
export async function openSession(
  frame: Frame,
  need: Need,
  options: { readonly config?: string | undefined } = {}
): Promise<Session> {
  const open = opener(frame, need, options.config)
  return atHolder<Session>(frame, {
    owner: async (owner) => ({
      client: ownerClient(owner),
      holder: 'owner',
      close: async () => owner.close()
    }),
    here: open
  })
}

/** Opens the ledger; configuration and passphrase are asked for once, however often it is tried. */
function opener(frame: Frame, need: Need, given: string | undefined): () => Promise<Session> {
  if (need === 'read') return () => openForReading(frame)
  let config: TallyConfig | undefined
  let passphrase = givenPassphrase(frame)
  const attempt = async () => {
    config ??= need === 'run' ? await configOf(frame, given) : {}
    const asked = {
      ...(passphrase === undefined ? {} : { passphrase }),
      ...(frame.identity === undefined ? {} : { identity: frame.identity }),
      ...(need === 'take over' ? { takeOver: true as const } : {})
    }
    return openForRunning(frame, { location: frame.directory, ...config, ...asked })
  }
  return async () => {
    try {
      return await attempt()
    } catch (error) {
      if (!isTallyError(error, 'identity.passphrase_missing') || !canAsk()) throw error
      passphrase = await askPassphrase('Passphrase: ')
      return attempt()
    }
  }
}

async function openForReading(frame: Frame): Promise<Session> {
  const { openReader } = await import('../../runtime/index.js')
  const reader = await openReader(frame.directory, { identity: frame.identity })
  return { client: localClient(reader.service), holder: 'us', close: () => reader.close() }
}

async function openForRunning(frame: Frame, options: RuntimeOptions): Promise<Session> {
  const { createRuntime, quarantineWarning } = await import('../../runtime/index.js')
  // A command drives the run that it names, and no other.
  const runtime = await createRuntime({ ...options, resume: false, redactor: frame.redactor })
  // Without configuration there is no code to do anything again with.
  const { warnings, quarantined } = runtime.status()
  for (const mark of quarantined) frame.output.log(text`${quarantineWarning(mark)}`)
  if ('blocks' in options) for (const warning of warnings) frame.output.log(text`${warning}`)
  return { client: localClient(runtime.service), holder: 'us', close: () => runtime.close() }
}

export async function configOf(frame: Frame, given: string | undefined): Promise<TallyConfig> {
  const found = await findConfig(frame, given)
  if (found.path === undefined) {
    frame.output.log(text`no configuration: ${found.reason}`)
    return {}
  }
  frame.output.log(text`configuration ${found.path}`)
  const config = await loadConfig(frame, found.path)
  return { ...config, closedPaths: [...(config.closedPaths ?? []), found.path] }
}

/** Opens a session, uses it, and closes it whatever happens. */
export async function withSession<Result>(
  frame: Frame,
  need: Need,
  use: (session: Session) => Promise<Result>
): Promise<Result> {
  const session = await openSession(frame, need)
  try {
    return await use(session)
  } finally {
    await session.close()
  }
}
