import { expect, it } from 'vitest'
import { builtModule } from '../../support/built.js'
import { loadedBy } from '../../support/loaded.js'

const importing = (module: string) => `await import(${JSON.stringify(builtModule(module))})`

/** What a process does with schemas, in order; each begins with what the one before has loaded. */
const orders: Readonly<Record<string, string>> = {
  'the library, and then what imports it': `
    core.lazySchema((zod) => zod.string())()
    ${importing('workflow/index.js')}`,
  'what imports it, and then the library': `
    ${importing('workflow/index.js')}
    core.lazySchema((zod) => zod.string())()`
}

function loadedWith(code: string) {
  const core = `const core = ${importing('core/index.js')}`
  const program = [core, code, "console.log('done')"].join('\n')
  const { stdout, urls } = loadedBy(['--input-type=module', '-e', program])
  expect(stdout).toBe('done\n')
  return (folder: string) =>
    urls.filter((url) => new RegExp(`/node_modules/${folder}/index\\.c?js$`).test(url))
}

it.each(Object.entries(orders))('a process holds one copy of zod: %s', (_, code) => {
  expect(loadedWith(code)('zod-pinned')).toHaveLength(1)
})

it("schemas of a program's own zod, of the pinned version, need no other copy", () => {
  const loaded = loadedWith(`
    const { z } = await import('zod')
    core.inputJsonSchema(z.object({ when: z.iso.datetime() }))`)
  expect(loaded('zod')).toHaveLength(1)
  expect(loaded('zod-pinned')).toEqual([])
})
