#!/usr/bin/env node
import { readFileSync } from 'node:fs'

// Nothing else is imported, and no newer syntax written, before Node is known to be new enough.
const manifest = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
) as { readonly engines: { readonly node: string } }
const needed = manifest.engines.node.replace('>=', '')
const [major, minor] = needed.split('.').map(Number) as [number, number]
const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number) as [number, number]

if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) {
  const { main } = await import('./program.js')
  await main(process.argv.slice(2))
} else {
  process.stderr.write(
    `tally needs Node ${needed} or newer; this is Node ${process.versions.node}.\n`
  )
  process.exitCode = 1
}
