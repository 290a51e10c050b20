/**
 * Options of Node for a process that plays one life after another. Almost all of what a life makes
 * is gone when it ends: the fewer collections, the less is copied. Threads that help the collector
 * would take their time from the other processes.
 */
export const collectorOptions = [
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
  '--single-threaded-gc'
] as const
