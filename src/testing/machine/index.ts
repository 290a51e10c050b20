/**
 * machine: property tests of a block, document or chart, for its author.
 *
 * A {@link Case} is plain JSON and says everything that varies: inputs, what the world answers and
 * where it fails, what people do, where the process dies, what is redeployed. It is played on the
 * real runtime over a disk in memory, in virtual time, by these pieces:
 *
 * - `Life` is a process that dies at a boundary: either side of a commit or an effect.
 * - `Machine` is what outlives it: disk, clock and `World`; the world remembers what was done.
 * - `People` answer waits, `drive` waits until runs end, wait for what is not answered, or die.
 * - a promise judges what the plays of a case have left.
 *
 * Owns: cases and how they are played. Does not own: the faults of the disk, which is `FaultyDisk`.
 *
 * - M1 The same case of the same code is played the same way, in every process.
 * - M2 No effect reaches a `perform` or a provider unless the options say `own`.
 * - M3 What is missing, or misused, is a TallyError; what is broken is a counterexample.
 * - M4 fast-check is loaded when cases are generated, and not before.
 */
export type { Case, Death, Manner, PersonAct, ScriptedEffect, Trouble } from './case.js'
export type { ChartTarget } from './chart-target.js'
export type { MachineCoverage, Missed } from './coverage.js'
export type { FunctionTarget } from './function-target.js'
export type {
  AnyArbitrary,
  AnySchema,
  CaseOptions,
  CodePlace,
  EffectAnswer,
  EffectOptionsOfWorld,
  Invariant,
  MachineBounds,
  MachineOptions,
  PeopleOptions,
  Seen,
  SeenInTheEnd
} from './options.js'
export type { PackageSource, PackageTarget } from './package-target.js'
export type { MachineReport } from './tally.js'
export type { DocumentTarget, MachineTarget } from './target.js'
export { verifyCase, verifyMachine } from './verify-machine.js'
