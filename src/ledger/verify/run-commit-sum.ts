import type { RunCommit } from '../derived/run-records.js'

/**
 * A sum over the commits that hold entries of a run, below 2^40: what a verification keeps for each
 * run, instead of all of them. Enough against damage; nothing is found by it.
 */
export function addRunCommit(sum: number, [commitSeq, firstEntry]: RunCommit): number {
  const mixed = Math.imul(commitSeq + 1, 0x2c1b3c6d) ^ Math.imul(firstEntry + 1, 0x297a2d39)
  return (sum * 31 + (mixed >>> 0) + 1) % 2 ** 40
}
