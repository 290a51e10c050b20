import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createRuntime } from 'tallystick'
import { fileBank } from './bank.js'
import { invoiceBlocks } from './blocks.js'

/** The invoice run embedded in a Node program. `npm run example 01-invoices` */

// Compiled code lies in dist/examples; the documents lie beside the sources.
const here = fileURLToPath(new URL('../../../examples/01-invoices/', import.meta.url))
const folder = await mkdtemp(join(tmpdir(), 'tally-invoices-'))

try {
  await using tally = await createRuntime({
    location: join(folder, 'ledger'),
    create: 'if-absent',
    insecurePlaintextKey: true,
    blocks: invoiceBlocks,
    providers: [fileBank(join(folder, 'bank.jsonl'))]
  })

  const document = await readFile(join(here, 'pay-invoices.yaml'), 'utf8')
  const run = tally.begin(document, {
    id: 'june',
    inputs: { path: join(here, 'invoices.csv'), confirm_above: '10000.00' }
  })

  for await (const event of run) {
    if (event.type === 'block.settled' && event.block === 'invoices.pay') {
      console.log('paid', event.response.data)
    }
    if (event.type === 'waiting') {
      console.log('asked', event.request)
      await run.approve(event.token, { digest: event.digest, by: 'example' })
    }
  }

  const { status, response } = await run.result
  console.log(status, response.data)
  const report = await tally.verify({ reexecute: true })
  console.log(report.line)
  process.exitCode = status === 'done' && report.ok ? 0 : 1
} finally {
  await rm(folder, { recursive: true, force: true })
}
