import { describe, it } from 'vitest'
import { type TransportDriver, transportConformance } from '../../src/testing/index.js'
import {
  chatDriver,
  mcpDriver,
  packageDriver,
  piMonoDriver,
  plainDriver,
  rpcDriver
} from '../support/transports-under-test.js'

const drivers: readonly (readonly [name: string, driver: () => TransportDriver])[] = [
  ['turns of an agent over chat completions', chatDriver],
  ['turns of an agent over HTTP of pi-mono', piMonoDriver],
  ['calls of a tool over MCP', mcpDriver],
  ['calls of a chain over JSON-RPC', rpcDriver],
  ['requests of packages', packageDriver],
  ['a plain client of HTTP', plainDriver]
]

for (const [name, driver] of drivers) {
  describe(`transport conformance: ${name}`, () => {
    for (const check of transportConformance) it(check.name, () => check.run(driver()))
  })
}
