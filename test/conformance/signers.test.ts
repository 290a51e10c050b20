import { afterAll, beforeAll, describe, it } from 'vitest'
import { localSigner } from '../../src/identity/index.js'
import { type SignerDriver, signerConformance } from '../../src/testing/index.js'
import { type KeyService, startKeyService } from '../support/key-service.js'

const seed = new Uint8Array(32).fill(11)
let service: KeyService
beforeAll(async () => {
  service = await startKeyService(seed)
})
afterAll(() => service.close())

const drivers: readonly (readonly [name: string, driver: () => SignerDriver])[] = [
  ['of this process, with its pool', () => ({ open: async () => localSigner(seed) })],
  ['of a key service behind HTTP', () => service]
]

for (const [name, driver] of drivers) {
  describe(`signer conformance: ${name}`, () => {
    for (const check of signerConformance) it(check.name, () => check.run(driver()))
  })
}
