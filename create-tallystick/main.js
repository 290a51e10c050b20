#!/usr/bin/env node
// The command line of tallystick, which `new` is a command of.
const manifest = import.meta.resolve('tallystick/package.json')
process.argv.splice(2, 0, 'new')
await import(new URL('./dist/src/cli/main.js', manifest).href)
