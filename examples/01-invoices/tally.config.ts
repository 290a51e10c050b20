import { join } from 'node:path'
import { defineConfig } from 'tallystick'
import { fileBank } from './bank.js'
import { invoiceBlocks } from './blocks.js'

/** What the command line may run here. `BANK_BOOK` names the file that plays the bank. */
export default defineConfig({
  blocks: invoiceBlocks,
  providers: [
    fileBank(process.env['BANK_BOOK'] ?? join(process.cwd(), 'bank.jsonl'), {
      delayMs: Number(process.env['BANK_DELAY_MS'] ?? 0)
    })
  ]
})
