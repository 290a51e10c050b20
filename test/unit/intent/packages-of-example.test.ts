import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { packDirectory } from '../../../src/capability/index.js'

const folder = fileURLToPath(new URL('../../../examples/02-wallet/packages/', import.meta.url))

describe('packages of the wallet example', () => {
  it.each(['wallet', 'payments', 'contacts', 'messages'])('%s can be packed', async (name) => {
    expect(await packDirectory(`${folder}${name}`)).toMatchObject({
      ok: true,
      package: { manifest: { id: name } }
    })
  })
})
