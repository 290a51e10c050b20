import { limits } from '../../core/index.js'
import type { AgentSession } from './adapter.js'

interface Held {
  readonly runId: string
  readonly session: Promise<AgentSession>
  /** Ends with the last turn that was asked for: turns of a session come one after the other. */
  last: Promise<unknown>
  /** Turns under way or waiting. */
  turns: number
}

/**
 * Sessions by run and agent (semantics.md A4).
 *
 * Owns: the open sessions of this process; they are let go when their run ends, when the pool
 * closes, or when there are too many. Does not own: what a session is for, or what earlier
 * processes have left open.
 */
export class SessionPool {
  readonly #held = new Map<string, Held>()

  get size(): number {
    return this.#held.size
  }

  /** Uses the session of this key, once the turns before have ended. */
  async use<Result>(
    place: { readonly key: string; readonly runId: string },
    open: () => Promise<AgentSession>,
    act: (session: AgentSession) => Promise<Result>
  ): Promise<Result> {
    const held = this.#take(place, open)
    held.turns += 1
    const turn = held.last.then(async () => act(await held.session))
    held.last = turn.catch(() => undefined)
    try {
      return await turn
    } finally {
      held.turns -= 1
    }
  }

  /** Forgets a session that is no more, and lets go of what is left of it. */
  async drop(key: string): Promise<void> {
    const held = this.#held.get(key)
    this.#held.delete(key)
    if (held !== undefined) await disposed(held)
  }

  /** Lets go of the sessions of a run that has ended. */
  async disposeRun(runId: string): Promise<void> {
    const keys = [...this.#held].filter(([, held]) => held.runId === runId).map(([key]) => key)
    await Promise.all(keys.map((key) => this.drop(key)))
  }

  async close(): Promise<void> {
    await Promise.all([...this.#held.keys()].map((key) => this.drop(key)))
  }

  #take(
    { key, runId }: { readonly key: string; readonly runId: string },
    open: () => Promise<AgentSession>
  ): Held {
    const known = this.#held.get(key)
    this.#held.delete(key)
    const held = known ?? { runId, session: open(), last: Promise.resolve(), turns: 0 }
    // The latest comes last, so that the first idle one was idle longest.
    this.#held.set(key, held)
    // A session that did not open is asked for again by the next turn.
    held.session.catch(() => {
      if (this.#held.get(key) === held) this.#held.delete(key)
    })
    if (this.#held.size > limits.AGENT_SESSIONS_MAX) this.#letOneGo()
    return held
  }

  #letOneGo(): void {
    const idle = [...this.#held].find(([, { turns }]) => turns === 0)
    if (idle !== undefined) void this.drop(idle[0])
  }
}

async function disposed({ session }: Held): Promise<void> {
  await session.then((one) => one.dispose()).catch(() => undefined)
}
