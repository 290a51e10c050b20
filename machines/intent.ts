/**
 * An intent's way from words to receipt (semantics.md K1), as the stages inside the BUSY and the
 * WAITING of the leaf that does it. Data only; `src/intent` goes this way, and a test shows that
 * every way it goes is one of these.
 *
 * What a package declares is known from its code, so the code is measured before grants are asked
 * for. After a grant the intent begins again: what it had read is older than the grant (L10).
 */
const refused = { 'stage.refused': { target: '#intent.failed' } } as const

/** The statechart of an intent, from its text to its reply, in XState's configuration format. */
export const intentChart = {
  id: 'intent',
  version: '1',
  initial: 'parsing',
  states: {
    parsing: {
      on: { 'stage.parsed': { target: '#intent.routing' }, ...refused }
    },
    routing: {
      on: {
        'chosen.kernel': { target: '#intent.executing' },
        'chosen.block': { target: '#intent.executing' },
        'chosen.package': { target: '#intent.measuring' },
        ...refused
      }
    },
    measuring: {
      on: { 'stage.measured': { target: '#intent.authorising' }, ...refused }
    },
    authorising: {
      on: {
        'stage.granted': { target: '#intent.executing' },
        'stage.lacking': { target: '#intent.WAITING' }
      }
    },
    WAITING: {
      on: { 'stage.again': { target: '#intent.parsing' }, ...refused }
    },
    executing: {
      on: {
        'stage.called': { target: '#intent.executing' },
        'stage.executed': { target: '#intent.committing' },
        ...refused
      }
    },
    committing: {
      on: {
        'stage.committed': { target: '#intent.done' },
        'stage.again': { target: '#intent.parsing' },
        ...refused
      }
    },
    done: { type: 'final' },
    failed: { type: 'final' }
  }
} as const
