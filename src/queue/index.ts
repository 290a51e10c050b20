/** queue: how work waits for its turn. It says when something is done, never what. */

export {
  type BlockQueue,
  blockQueue,
  type HeldLimits,
  hasLimits,
  heldLimits,
  heldTerms,
  type QueueLimits,
  type QueueTerms,
  queueNameProblem,
  queueOfEffect,
  queueTermsFor
} from './terms.js'
export type { QueuePlace } from './work-queue.js'
export { type QueueShown, type RateTimes, WorkQueues } from './work-queues.js'
