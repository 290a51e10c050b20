/**
 * The ledger (docs/architecture.md): READY idle, BUSY committing, WAITING safe mode. Data only;
 * `src/ledger/mode.ts` runs it. Events come once per flush, never per append.
 *
 * A poisoned ledger waits too, for nothing that this process can send: it must be opened again
 * (L3). While a snapshot is about to take its place (K10) it waits in `restoring`, or in `mending`
 * when it was in safe mode; once that is done, in `replaced` for being opened again.
 */
export const ledgerChart = {
  id: 'ledger',
  version: '1',
  initial: 'READY',
  states: {
    READY: {
      on: {
        'flush.begun': { target: '#ledger.BUSY' },
        'restore.begun': { target: '#ledger.WAITING.restoring' },
        'ledger.unsafe': { target: '#ledger.WAITING.safe', actions: ['keepCause'] },
        'write.failed': { target: '#ledger.WAITING.poisoned', actions: ['keepCause'] }
      }
    },
    BUSY: {
      on: {
        'flush.ended': { target: '#ledger.READY' },
        'ledger.unsafe': { target: '#ledger.WAITING.safe', actions: ['keepCause'] },
        'write.failed': { target: '#ledger.WAITING.poisoned', actions: ['keepCause'] }
      }
    },
    WAITING: {
      initial: 'safe',
      states: {
        safe: {
          on: {
            'ledger.verified': { target: '#ledger.READY', actions: ['dropCause'] },
            'restore.begun': { target: '#ledger.WAITING.mending' },
            'write.failed': { target: '#ledger.WAITING.poisoned', actions: ['keepCause'] }
          }
        },
        poisoned: {},
        restoring: {
          on: {
            'restore.failed': { target: '#ledger.READY' },
            'restore.done': { target: '#ledger.WAITING.replaced' },
            'ledger.unsafe': { target: '#ledger.WAITING.mending', actions: ['keepCause'] },
            'write.failed': { target: '#ledger.WAITING.poisoned', actions: ['keepCause'] }
          }
        },
        mending: {
          on: {
            'restore.failed': { target: '#ledger.WAITING.safe' },
            'restore.done': { target: '#ledger.WAITING.replaced', actions: ['dropCause'] },
            'write.failed': { target: '#ledger.WAITING.poisoned', actions: ['keepCause'] }
          }
        },
        replaced: {}
      }
    }
  }
} as const
