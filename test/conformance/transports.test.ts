import { describe, it } from 'vitest'
import { type TransportDriver, transportConformance } from '../../src/testing/index.js'
import {
  chatDriver,
  packageDriver,
  plainDriver,
  rpcDriver
} from '../support/transports-under-test.js'

const drivers: readonly (readonly [name: string, driver: () => TransportDriver])[] = [
  ['turns of an agent over chat completions', chatDriver],
  ['calls of a chain over JSON-RPC', rpcDriver],
  ['requests of packages', packageDriver],
  ['a plain client of HTTP', plainDriver]
]

for (const [name, driver] of drivers) {
  describe(`transport conformance: ${name}`, () => {
    for (const check of transportConformance) {
      // Of a port that was let go of, another process may make its own.
      it(check.name, { retry: 1 }, () => check.run(driver()))
    }
  })
}
