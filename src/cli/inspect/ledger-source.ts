import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { methodKind } from '../../console/index.js'
import { isTallyError, type Json, ledgerError, limits, systemClock } from '../../core/index.js'
import { inspectLocation, type OwnerHandler, type OwnerRequest } from '../../ledger/index.js'
import { connectOwner } from '../../owner/index.js'
import type { EventPlace, FeedEvent } from '../../runtime/index.js'
import { localClient, type ServiceClient } from '../frame/client.js'
import type { Frame } from '../frame/frame.js'
import { openSession, type Session } from '../frame/session.js'
import { type SessionUse, SharedSession } from '../frame/shared-session.js'

/**
 * The service of a ledger whose holder comes and goes: asked of the process that holds it, or read
 * from the disk when none does. A snapshot file is read into memory.
 *
 * Owns the session that is open, and no more: between two questions the ledger is let go of.
 *
 * - Q4 The feed continues after its last place, over every change of the holder.
 * - What only reads is asked again when its holder went away; what changes something is not.
 */
export class LedgerSource {
  readonly #frame: Frame
  readonly #shared: SharedSession
  readonly #ready: () => Promise<unknown>
  /** When the last holder was seen to have gone. */
  #goneAt = Number.NEGATIVE_INFINITY
  /** How often something else than this has opened the ledger, as far as it is known. */
  #openings = 0
  #mark: string | undefined

  private constructor(frame: Frame, ready: () => Promise<unknown>) {
    this.#frame = frame
    this.#ready = ready
    this.#shared = new SharedSession(() => this.#open())
  }

  /**
   * Of what the frame names as its ledger: a directory, or a snapshot file. Nothing opens it before
   * `ready`, where a holder is known to come.
   */
  static async of(
    frame: Frame,
    ready: () => Promise<unknown> = async () => undefined
  ): Promise<{ readonly handle: OwnerHandler; close(): Promise<void> }> {
    const { directory } = frame
    const found = await stat(directory).catch(() => undefined)
    if (found?.isFile() === true) return snapshotSource(directory)
    if ((await inspectLocation(directory)) !== undefined) return new LedgerSource(frame, ready)
    throw ledgerError('ledger.not_found', { path: directory })
  }

  readonly handle: OwnerHandler = (request) => {
    const { method } = request
    if (method === 'feed') return this.#feed(request)
    const kind = methodKind(method)
    if (kind?.gives === 'stream') return this.#stream(request)
    return this.#request(request, kind?.changes !== false)
  }

  close(): Promise<void> {
    return this.#shared.close()
  }

  async #request({ method, params }: OwnerRequest, isOnce: boolean): Promise<Json> {
    const ask = async () => {
      const use = await this.#shared.use()
      try {
        // Checked by the service.
        const asked = use.session.client.request(method as never, params as never)
        return (await asked) as unknown as Json
      } catch (error) {
        this.#noticeLoss(error, use)
        throw error
      } finally {
        use.release()
      }
    }
    return ask().catch((error: unknown) => {
      if (isOnce || !isTallyError(error, 'owner.disconnected')) throw error
      return ask()
    })
  }

  async *#stream({ method, params, signal }: OwnerRequest): AsyncGenerator<Json> {
    const use = await this.#shared.use({ isStream: true })
    try {
      const { client } = use.session
      yield* client.stream(method as never, params as never, signal) as AsyncIterable<Json>
    } catch (error) {
      this.#noticeLoss(error, use)
      throw error
    } finally {
      use.release()
    }
  }

  async *#feed({ params, signal }: OwnerRequest): AsyncGenerator<Json> {
    const { since: from, ...how } = params as { readonly since?: EventPlace }
    let since = from
    while (!signal.aborted) {
      const use = await this.#shared.use({ isStream: true })
      const seen = this.#openings
      const { client, holder } = use.session
      try {
        yield await modeOf(client, holder !== 'us')
        since ??= await placeOf(client)
        const events = { method: 'feed', params: { ...how, since }, signal }
        for await (const event of holder === 'us'
          ? ending(client, events)
          : eventsOf(client, events)) {
          since = 'place' in event ? event.place : since
          // Plain JSON; its type only names the members.
          yield event as unknown as Json
        }
      } catch (error) {
        this.#noticeLoss(error, use)
        if (!isTallyError(error, 'owner.disconnected')) throw error
      } finally {
        use.release()
      }
      await this.#moved(holder === 'us' ? seen : undefined, signal)
    }
  }

  /** Resolves when the ledger has a holder, or was opened by something else since `seen`. */
  async #moved(seen: number | undefined, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if ((await this.#hasOwner()) || (!this.#isLeft() && (await this.#look()) !== seen)) return
      await pause(limits.INSPECTION_POLL_MS, signal)
    }
  }

  /**
   * Opens the ledger. Where its holder has just gone, the next one has the time to come: what looks
   * must not be what keeps it from opening.
   */
  async #open(): Promise<Session> {
    await this.#ready()
    while (this.#isLeft() && !(await this.#hasOwner())) {
      await pause(limits.INSPECTION_POLL_MS)
    }
    await this.#compare()
    const session = await openSession(this.#frame, 'read')
    if (session.holder === 'owner') return session
    const close = async () => {
      await session.close()
      this.#mark = await markOf(this.#frame.directory)
    }
    return { ...session, close }
  }

  /** How often something else has opened the ledger. */
  async #look(): Promise<number> {
    if (!this.#shared.isOpen) await this.#compare()
    return this.#openings
  }

  async #compare(): Promise<void> {
    const mark = await markOf(this.#frame.directory)
    if (mark !== this.#mark) this.#openings += 1
    this.#mark = mark
  }

  #isLeft(): boolean {
    return systemClock.now() < this.#goneAt + limits.INSPECTION_HANDOVER_MS
  }

  async #hasOwner(): Promise<boolean> {
    const found = await inspectLocation(this.#frame.directory).catch(() => undefined)
    if (found === undefined) return false
    const owner = await connectOwner(found.realPath).catch(() => undefined)
    owner?.close()
    return owner !== undefined
  }

  #noticeLoss(error: unknown, { forget }: SessionUse): void {
    if (!isTallyError(error, 'owner.disconnected')) return
    this.#goneAt = systemClock.now()
    forget()
  }
}

/** Nothing happens in a snapshot. */
async function snapshotSource(file: string) {
  const { openReader } = await import('../../runtime/index.js')
  const { service, close } = await openReader(file)
  const handle: OwnerHandler = (request) =>
    request.method === 'feed' ? unmoved(service, request.signal) : service(request)
  return { handle, close }
}

async function* unmoved(service: OwnerHandler, signal: AbortSignal): AsyncGenerator<Json> {
  yield await modeOf(localClient(service), false)
  while (!signal.aborted) await pause(limits.FEED_COMMENT_MS, signal)
}

async function pause(durationMs: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => {
      callOff()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const callOff = systemClock.schedule(systemClock.now() + durationMs, end)
    signal?.addEventListener('abort', end)
  })
}

/** Changes with every opening of a ledger: LevelDB writes this file anew. */
async function markOf(directory: string): Promise<string> {
  try {
    const found = await inspectLocation(directory)
    if (found === undefined) return 'none'
    const { live } = found.marker
    const { ino, mtimeNs } = await stat(join(found.realPath, live, 'CURRENT'), { bigint: true })
    return `${live} ${ino} ${mtimeNs}`
  } catch {
    return 'unreadable'
  }
}

/** How the ledger stands, as the feed says it: the holder may be another one. */
async function modeOf(client: ServiceClient, isHeld: boolean): Promise<Json> {
  const { mode, cause } = await client.request('status', {})
  return { type: 'mode', mode, cause, isHeld }
}

/** Where the ledger stands, or somewhat before. */
export async function placeOf(client: ServiceClient): Promise<EventPlace> {
  const { items } = await client.request('log', { limit: 1 })
  return `${items[0]?.commitSeq ?? 0}.0`
}

/** Commit in which a place is. */
export function commitOf(place: EventPlace): number {
  return Number(place.split('.')[0])
}

/** What there is, of a ledger that nothing writes: it is not held while nothing more comes. */
async function* ending(
  client: ServiceClient,
  { params, signal }: Pick<OwnerRequest, 'params' | 'signal'>
): AsyncGenerator<FeedEvent> {
  const quiet = new AbortController()
  const wait = () => {
    const at = systemClock.now() + limits.INSPECTION_QUIET_MS
    return systemClock.schedule(at, () => quiet.abort())
  }
  let callOff = wait()
  try {
    const both = AbortSignal.any([signal, quiet.signal])
    for await (const event of eventsOf(client, { params, signal: both })) {
      callOff()
      yield event
      callOff = wait()
    }
  } finally {
    callOff()
  }
}

function eventsOf(
  client: ServiceClient,
  { params, signal }: Pick<OwnerRequest, 'params' | 'signal'>
): AsyncIterable<FeedEvent> {
  return client.stream('feed', params as object, signal)
}
