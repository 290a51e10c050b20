/**
 * testing: what a program that embeds tallystick, or drives it with its own store, tests with.
 * Nothing here depends on a test runner.
 */
export { FaultyDisk, type FaultyDiskOptions, type WriteFault } from './faulty-store.js'
export { agrees, type StoreCheck, type StoreDriver, storeConformance } from './store-conformance.js'
