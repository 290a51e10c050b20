import { mkdir } from 'node:fs/promises'
import { createRuntime } from 'tallystick'
import { orderWorkflow, type Payments } from './order.js'
import { serviceOf } from './service.js'

const {
  HOST = '127.0.0.1',
  PORT = '3000',
  LEDGER = 'ledger',
  NODE_ENV,
  TALLY_PASSPHRASE
} = process.env
if (TALLY_PASSPHRASE === undefined && NODE_ENV === 'production') {
  throw new Error('Set TALLY_PASSPHRASE: it seals the key of the ledger.')
}

// Replace it by your provider, which takes `key` as its idempotency key.
const payments: Payments = {
  charge: async (cents, key) => {
    console.log(`charged ${cents} cents`)
    return `payment-${key.slice(0, 8)}`
  }
}

await mkdir(LEDGER, { recursive: true })
const workflow = orderWorkflow(payments)
const tally = await createRuntime({
  location: LEDGER,
  create: 'if-absent',
  workflows: [workflow],
  ...(TALLY_PASSPHRASE === undefined
    ? { insecurePlaintextKey: true }
    : { passphrase: TALLY_PASSPHRASE })
})
const app = serviceOf(tally, workflow)

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, async () => {
    await app.close()
    await tally.close()
    process.exit(0)
  })
}
console.log(`listening ${await app.listen({ host: HOST, port: Number(PORT) })}`)
