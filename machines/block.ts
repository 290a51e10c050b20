/**
 * The leaf block (B2, B3, B8): READY, BUSY, WAITING. Data only; `src/block/chart` has the
 * functions.
 *
 * Asks to the pump stand on transitions, not on entry, so that a resumed attempt is not asked
 * again. A block never ends: it reports to its parent and returns to READY.
 */
const settled = {
  onSuccess: 'settle',
  onFailure: 'settleFailure'
} as const

/**
 * First match in order: what follows an attempt's end. The choice is
 * `src/block/chart/retry-policy.ts`.
 */
const afterAttempt = [
  { guard: 'succeeds', target: '#block.READY', actions: [settled.onSuccess] },
  {
    guard: 'retriesAtOnce',
    target: '#block.BUSY',
    reenter: true,
    actions: ['countAttempt', 'askAttempt']
  },
  {
    guard: 'retriesLater',
    target: '#block.WAITING.retry',
    actions: ['planRetry', 'askTimer', 'reportWaiting']
  },
  {
    guard: 'repairs',
    target: '#block.BUSY',
    reenter: true,
    actions: ['repair', 'askAttempt']
  },
  {
    guard: 'fallsBack',
    target: '#block.BUSY',
    reenter: true,
    actions: ['fallBack', 'askAttempt']
  },
  {
    guard: 'asks',
    target: '#block.WAITING.decision',
    actions: ['holdFailure', 'askDecision', 'reportWaiting']
  },
  { target: '#block.READY', actions: [settled.onFailure] }
] as const

const afterWait = afterAttempt.map((branch) => ({
  ...branch,
  actions: ['reportResumed', ...branch.actions] as const
}))

const refuse = { actions: ['refuseBusy'] } as const

/** The chart of every leaf block: READY, BUSY and WAITING, in XState's configuration format. */
export const blockChart = {
  id: 'block',
  version: '1',
  initial: 'READY',
  states: {
    READY: {
      on: { 'block.execute': [{ target: '#block.BUSY', actions: ['begin', 'askAttempt'] }] }
    },
    BUSY: {
      on: {
        'block.execute': [refuse],
        'block.cancel': [{ target: '#block.READY', actions: ['askCancel', 'settleCancelled'] }],
        'attempt.waiting': [
          { target: '#block.WAITING.attempt', actions: ['holdWait', 'reportWaiting'] }
        ],
        'attempt.settled': afterAttempt
      }
    },
    WAITING: {
      initial: 'attempt',
      on: {
        'block.execute': [refuse],
        'block.cancel': [
          { target: '#block.READY', actions: ['reportResumed', 'askCancel', 'settleCancelled'] }
        ]
      },
      states: {
        attempt: {
          on: {
            'attempt.waiting': [{ actions: ['holdWait', 'reportWaiting'] }],
            'attempt.resumed': [{ target: '#block.BUSY', actions: ['reportResumed'] }],
            'attempt.settled': afterWait
          }
        },
        retry: {
          on: {
            'timer.fired': [
              {
                target: '#block.BUSY',
                actions: ['reportResumed', 'countAttempt', 'askAttempt']
              }
            ]
          }
        },
        decision: {
          on: {
            'decision.made': [
              {
                guard: 'choosesRetry',
                target: '#block.BUSY',
                actions: ['reportResumed', 'countAttempt', 'askAttempt']
              },
              {
                guard: 'choosesPatch',
                target: '#block.BUSY',
                actions: ['reportResumed', 'patchRequest', 'askAttempt']
              },
              {
                guard: 'choosesSkip',
                target: '#block.READY',
                actions: ['reportResumed', 'settleSkipped']
              },
              { target: '#block.READY', actions: ['reportResumed', 'settleHeld'] }
            ],
            'timer.fired': [
              { target: '#block.READY', actions: ['reportResumed', 'settleTimedOut'] }
            ]
          }
        }
      }
    }
  }
} as const
