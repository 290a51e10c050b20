import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  AdapterRegistry,
  type AgentAdapter,
  AgentTurns,
  type SessionNotes,
  type SessionOptions
} from '../../../src/agent/index.js'
import type { EffectCall } from '../../../src/code/index.js'
import { createRuntime } from '../../../src/runtime/index.js'
import { SessionFiles } from '../../../src/runtime/session-notes.js'

const environment = { TALLY_KEPT_API_KEY: 'the-key-of-the-backend' }

/** A backend that keeps sessions, as far as its callers can see. */
class Backend {
  readonly open = new Set<string>()
  /** What was asked of it, in order. */
  readonly asked: string[] = []
  readonly #named: (proposed: string | undefined) => string
  isReachable = true
  dies = false

  constructor(named: (proposed: string | undefined) => string = (id) => id ?? 'none') {
    this.#named = named
  }

  registry(): AdapterRegistry {
    const adapter: AgentAdapter = {
      kind: 'kept',
      keepsSessions: () => true,
      open: async (session) => this.#session(session)
    }
    return new AdapterRegistry().registerAdapter('kept', () => adapter)
  }

  turns(notes: SessionNotes): AgentTurns {
    const turns = new AgentTurns({ adapters: this.registry(), environment })
    turns.useNotes(notes)
    return turns
  }

  async #session({ earlier, proposed }: SessionOptions) {
    const id = earlier ?? this.#named(proposed)
    this.asked.push(earlier === undefined ? 'opened' : 'used on')
    if (earlier === undefined) this.open.add(id)
    if (this.dies) throw new Error('killed before it was answered')
    return {
      id,
      turn: async () => ({
        status: 'completed' as const,
        finalText: 'done',
        toolCalls: [],
        usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
        model: 'm',
        warnings: []
      }),
      dispose: async () => {
        if (!this.isReachable) throw new Error('unreachable')
        this.open.delete(id)
      }
    }
  }
}

const turn = { runId: 'run-1', nodeId: 'n', agentId: 'clerk', turnMode: 'normal', prompt: 'secret' }
const call: EffectCall = {
  key: 'k',
  request: {
    adapterKind: 'kept',
    adapterConfig: { apiKey: 'env:TALLY_KEPT_API_KEY' },
    flowName: 'flow',
    systemPrompt: 'a secret prompt',
    timeoutMs: 1_000,
    turn: { ...turn, input: {}, messages: [] }
  },
  signal: new AbortController().signal
}

let location: string
let notes: SessionFiles
beforeEach(async () => {
  location = await mkdtemp(join(tmpdir(), 'tally-notes-'))
  notes = await SessionFiles.open(location)
})
afterEach(() => rm(location, { recursive: true, force: true }))

const files = () => readdir(join(location, 'agent-sessions'))
const nextLife = () => SessionFiles.open(location)

describe('A4: sessions that a backend keeps', () => {
  it('are noted before they are opened, without prompt or secret, and struck out at the end', async () => {
    const backend = new Backend()
    const turns = backend.turns(notes)
    await turns.perform(call)
    expect(backend.open.size).toBe(1)
    const [note] = (await nextLife()).all()
    expect(note).toMatchObject({ runId: 'run-1', agentId: 'clerk', isOpen: true })
    expect(JSON.stringify(note)).not.toContain('secret')
    await turns.disposeRun('run-1')
    expect([backend.open.size, await files()]).toEqual([0, []])
  })

  it('are opened under the same id again when the answer was lost', async () => {
    const backend = new Backend()
    backend.dies = true
    await expect(backend.turns(notes).perform(call)).rejects.toThrow()
    backend.dies = false
    const later = backend.turns(await nextLife())
    await later.perform(call)
    expect([backend.open.size, (await files()).length]).toEqual([1, 1])
    await later.disposeRun('run-1')
    expect([backend.open.size, await files()]).toEqual([0, []])
  })

  it('are used on when the answer was heard, also under a name of the backend', async () => {
    let opened = 0
    const backend = new Backend(() => {
      opened += 1
      return `../own name ${opened}`
    })
    await backend.turns(notes).perform(call)
    const later = backend.turns(await nextLife())
    await later.perform(call)
    expect(backend.asked).toEqual(['opened', 'used on'])
    await later.disposeRun('run-1')
    expect([backend.open.size, await files()]).toEqual([0, []])
  })

  it('K16: are noted without the key, also where the backend calls a session by it', async () => {
    const backend = new Backend(() => `session-${environment.TALLY_KEPT_API_KEY}`)
    await backend.turns(notes).perform(call)
    const [note] = (await nextLife()).all()
    expect(note).toMatchObject({ isOpen: true, id: 'session-[env:TALLY_KEPT_API_KEY]' })
  })

  it('are closed by the process that finds their run over, and stay noted while that fails', async () => {
    const backend = new Backend()
    await backend.turns(notes).perform(call)
    backend.isReachable = false
    const second = await nextLife()
    await backend.turns(second).disposeLeft(() => true)
    expect([backend.open.size, second.all().length]).toEqual([1, 1])
    backend.isReachable = true
    const third = await nextLife()
    await backend.turns(third).disposeLeft(() => false)
    expect(backend.open.size).toBe(1)
    await backend.turns(third).disposeLeft(({ length }) => length > 0)
    expect([backend.open.size, await files()]).toEqual([0, []])
  })

  it('are let go of when a ledger is opened that knows no such run', async () => {
    const backend = new Backend()
    const ledger = join(location, 'ledger')
    const open = () =>
      createRuntime({
        location: ledger,
        create: 'if-absent',
        insecurePlaintextKey: true,
        agents: { adapters: backend.registry(), environment }
      })
    await (await open()).close()
    await backend.turns(await SessionFiles.open(ledger)).perform(call)
    expect(backend.open.size).toBe(1)
    await (await open()).close()
    expect(backend.open.size).toBe(0)
    expect(await readdir(join(ledger, 'agent-sessions'))).toEqual([])
  })
})
