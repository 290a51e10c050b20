/**
 * testing: what a program that embeds tallystick, or drives it with its own store, tests with.
 * Nothing here depends on a test runner.
 */
export { installTripwire } from '../block/index.js'
export {
  checkDeterminism,
  type DeterminismCheck,
  type DeterminismOptions
} from './check-determinism.js'
export { FaultyDisk, type FaultyDiskOptions, type WriteFault } from './faulty-store.js'
export { agrees, type StoreCheck, type StoreDriver, storeConformance } from './store-conformance.js'
