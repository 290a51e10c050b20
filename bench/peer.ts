import { Level } from 'level'
import { assign, createActor, setup } from 'xstate'

const STEPS = 10

/** A statechart library and a database, put together as their manuals show: unsigned, no chain. */
const machine = setup({
  types: {
    context: {} as { readonly n: number; readonly results: readonly number[] },
    events: {} as { readonly type: 'next'; readonly result: number },
    input: {} as { readonly n: number }
  },
  actions: {
    keep: assign({ results: ({ context, event }) => [...context.results, event.result] })
  },
  guards: { isDone: ({ context }) => context.results.length >= STEPS - 1 }
}).createMachine({
  id: 'peer',
  initial: 'step',
  context: ({ input }) => ({ n: input.n, results: [] }),
  states: {
    step: {
      on: {
        next: [
          { guard: 'isDone', target: 'done', actions: 'keep' },
          { target: 'step', actions: 'keep' }
        ]
      }
    },
    done: { type: 'final' }
  }
})

/** XState's persisted snapshot after every step, each synced to LevelDB before the next step. */
export class SnapshotPeer {
  readonly #database: Level<string, string>

  private constructor(database: Level<string, string>) {
    this.#database = database
  }

  static async open(path: string): Promise<SnapshotPeer> {
    const database = new Level<string, string>(path)
    await database.open()
    return new SnapshotPeer(database)
  }

  async workflow(index: number): Promise<void> {
    const actor = createActor(machine, { input: { n: index } }).start()
    for (let step = 0; step < STEPS; step += 1) {
      actor.send({ type: 'next', result: index })
      const snapshot = JSON.stringify(actor.getPersistedSnapshot())
      await this.#database.put(`run-${index}`, snapshot, { sync: true } as object)
    }
    actor.stop()
  }

  async close(): Promise<void> {
    await this.#database.close()
  }
}
