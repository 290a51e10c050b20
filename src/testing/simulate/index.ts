/**
 * simulate: whole lives of machines, each from one seed.
 *
 * A node is one process with a ledger of its own: the real runtime on a faulty disk, in virtual
 * time. One clock drives all nodes. It orders everything that takes time: commits, answers of the
 * world and of people, requests on their way, runs that begin, processes that begin again.
 * {@link Fate} draws how long each takes and what fails; `SimulatedNode` lets one node live by it;
 * `Network` carries what nodes ask services; `Simulation` moves the clock from one event to the
 * next and asks the invariants after each.
 *
 * Owns: what a seed says, and the order of events. Does not own: the promises and the world, which
 * are those of `verifyMachine`; the faults of the disk, which are `FaultyDisk`'s.
 *
 * - N1 The same seed, nodes and faults have the same trace, byte for byte, in every process.
 * - N2 The clock moves only when nothing happens by itself any more.
 * - N3 What was durable stays: receipts that could be read, and results that were reported.
 * - N4 What a fault of the disk ends begins again; any other error is a broken promise.
 *
 * - N5 What a node has sent may arrive late, twice, or when the node is dead; no simulation ends
 *   before it has arrived.
 *
 * Peers, which would talk to each other over the network, have no place in here yet.
 */
export {
  checkLinearizable,
  type Linearizability,
  type StateOperation,
  type TimedOperation
} from './linearizable.js'
export type {
  EndedRun,
  NetworkFault,
  SeenBySimulation,
  SeenNode,
  SimulatedEffect,
  SimulatedFaults,
  SimulatedMachine,
  SimulationOptions,
  SimulationReport
} from './options.js'
export { simulate } from './simulate.js'
