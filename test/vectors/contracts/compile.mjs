/**
 * Compiles the example contracts with solc and writes their ABI and bytecode beside this file.
 * `--check` only compares: run it when a contract, solc or OpenZeppelin has changed. It takes some
 * seconds, so it is not part of the test suite.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')
const folder = join(root, 'examples/03-evm-transfer/contracts')
const names = ['ExampleToken', 'BridgeLock']
const solc = createRequire(import.meta.url)('solc')

const input = {
  language: 'Solidity',
  sources: Object.fromEntries(
    names.map((name) => [
      `${name}.sol`,
      { content: readFileSync(join(folder, `${name}.sol`), 'utf8') }
    ])
  ),
  settings: {
    evmVersion: 'cancun',
    optimizer: { enabled: true, runs: 200 },
    // Without it the bytecode would depend on comments and paths.
    metadata: { bytecodeHash: 'none', appendCBOR: false },
    outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } }
  }
}
const findImport = (path) => ({
  contents: readFileSync(join(root, 'node_modules', path), 'utf8')
})
const output = JSON.parse(solc.compile(JSON.stringify(input), { import: findImport }))
const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error')
if (errors.length > 0) {
  process.stderr.write(`${errors.map((one) => one.formattedMessage).join('\n')}\n`)
  process.exit(1)
}
let different = 0
for (const name of names) {
  const { abi, evm } = output.contracts[`${name}.sol`][name]
  const text = `${JSON.stringify({ abi, bytecode: `0x${evm.bytecode.object}` }, null, 1)}\n`
  const path = join(import.meta.dirname, `${name}.json`)
  if (!process.argv.includes('--check')) writeFileSync(path, text)
  else if (readFileSync(path, 'utf8') !== text) {
    different += 1
    process.stderr.write(`${name}.json is not what its source compiles to\n`)
  }
}
process.exitCode = different === 0 ? 0 : 1
