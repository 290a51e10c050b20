import { expect, it } from 'vitest'
import { builtModule } from '../../support/built.js'
import { loadedBy } from '../../support/loaded.js'

/** What a process does with schemas, in order; each begins with what the one before has loaded. */
const orders: Readonly<Record<string, string>> = {
  'the library, and then what imports it': `
    core.lazySchema((zod) => zod.string())()
    await import(${JSON.stringify(builtModule('workflow/index.js'))})`,
  'a program with schemas, and then the library': `
    await import('zod')
    core.lazySchema((zod) => zod.string())()`
}

it.each(Object.entries(orders))('a process holds one copy of zod: %s', (_, code) => {
  const program = `
    const core = await import(${JSON.stringify(builtModule('core/index.js'))})
    ${code}
    console.log('done')`
  const { stdout, urls } = loadedBy(['--input-type=module', '-e', program])
  expect(stdout).toBe('done\n')
  const copies = urls.filter((url) => /node_modules\/zod\/index\.c?js$/.test(url))
  expect(copies).toHaveLength(1)
})
