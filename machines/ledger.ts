/**
 * The ledger (architecture.md §6): READY idle, BUSY committing, WAITING safe mode. Data only;
 * `src/ledger/mode.ts` runs it. Events come once per flush, never per append.
 *
 * A poisoned ledger waits too, for nothing that this process can send: it must be opened again
 * (L3).
 */
export const ledgerChart = {
  id: 'ledger',
  version: '1',
  initial: 'READY',
  states: {
    READY: {
      on: {
        'flush.begun': { target: '#ledger.BUSY' },
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
            'write.failed': { target: '#ledger.WAITING.poisoned', actions: ['keepCause'] }
          }
        },
        poisoned: {}
      }
    }
  }
} as const
