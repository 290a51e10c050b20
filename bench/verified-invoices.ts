import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { fileBank } from '../examples/01-invoices/bank.js'
import { invoiceBlocks } from '../examples/01-invoices/blocks.js'
import type { Json } from '../src/core/index.js'
import type { DocumentTarget, MachineOptions } from '../src/testing/index.js'

// Compiled code lies in dist/bench; the document lies beside the sources.
const path = '../../examples/01-invoices/pay-invoices.yaml'

const row = fc.tuple(fc.constantFrom('x', 'y'), fc.constantFrom('0.00', '12.50', '20000.00'))
const answer = fc.array(row, { maxLength: 3 }).map(fileOf)

/** The invoice example, for processes that verify it. */
export const target: DocumentTarget = {
  document: readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8'),
  blocks: invoiceBlocks,
  providers: [fileBank('no-such-file')]
}

export const options: MachineOptions = {
  inputs: fc.constant<Json>({ path: 'invoices.csv', confirm_above: '10000.00' }),
  effects: {
    'file.read': { answer },
    'bank.transfer': { answer: () => ({ reference: 'T-1' }) }
  }
}

function fileOf(rows: readonly (readonly string[])[]): string {
  return ['id,payee,amount', ...rows.map((row, id) => [id, ...row].join())].join('\n')
}
