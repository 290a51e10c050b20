import { writeSync } from 'node:fs'

/** Loaded before a benchmark: says at its end how much processor time its threads have taken. */

const STDERR = 2

process.on('exit', () => {
  const { user, system } = process.cpuUsage()
  writeSync(STDERR, `processor time ${Math.round((user + system) / 1_000)}\n`)
})
