import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { FaultyProxy } from './anvil-proxy.js'

/** When a process dies: at which call of its chain, and whether the chain has heard that call. */
export interface Death {
  readonly at: number
  /** Calls of this method alone are counted. */
  readonly of?: string
  readonly isAfter: boolean
}

/** A process that lives until its chain is called for the n-th time; it gets what it prints. */
export async function liveUntilCall(life: {
  /** Path of a module that takes its options as JSON. */
  readonly worker: string
  readonly given: object
  readonly proxy: FaultyProxy
  readonly death: Death
  readonly onLine: (line: string) => void
}): Promise<void> {
  const { worker, given, proxy, death, onLine } = life
  const words = [worker, JSON.stringify(given)]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  let calls = 0
  let isDead = false
  proxy.fault = ({ method }) => {
    if (isDead) return 'drop_before'
    if (death.of !== undefined && death.of !== method) return 'pass'
    calls += 1
    if (calls < death.at) return 'pass'
    isDead = true
    child.kill('SIGKILL')
    return death.isAfter ? 'drop_after' : 'drop_before'
  }
  createInterface(child.stdout).on('line', onLine)
  await new Promise<void>((resolve) => child.once('close', () => resolve()))
  proxy.fault = () => 'pass'
}
