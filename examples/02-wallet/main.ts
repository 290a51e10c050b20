import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createRuntime, type Runtime } from 'tallystick'
import { type PaymentService, paymentService } from './payment-service.js'

/** A wallet of packages that need not be trusted. `npm run example 02-wallet` */

// Compiled code lies in dist/examples; documents and packages lie beside the sources.
const here = fileURLToPath(new URL('../../../examples/02-wallet/', import.meta.url))
const packages = ['contacts', 'messages', 'payments', 'wallet']
const folder = await mkdtemp(join(tmpdir(), 'tally-wallet-'))
const service = await paymentService()

try {
  await using tally = await createRuntime({
    location: join(folder, 'ledger'),
    create: 'if-absent',
    insecurePlaintextKey: true,
    packages: packages.map((name) => join(here, 'packages', name)),
    network: { policy: { allowLoopback: true } }
  })
  await prepare(tally)
  await compose(tally)
  await recover(tally, service)
  await talk(tally)
  const report = await tally.replay()
  console.log(report.line)
  process.exitCode = report.ok ? 0 : 1
} finally {
  service.close()
  await rm(folder, { recursive: true, force: true })
}

/** Nothing runs before it is granted; then money is made and a contact is known. */
async function prepare(tally: Runtime): Promise<void> {
  const asked = await tally.intent({ action: 'wallet.mintFC', payload: { amount: '100' } })
  console.log('mint', asked.type)
  await grant(tally, 'wallet', ['bridge.burn', 'bridge.mint', 'contacts.read', 'wallet.balance'])
  await grant(tally, 'wallet', ['wallet.release', 'wallet.reserve', 'wallet.send'])
  await grant(tally, 'contacts', ['contacts.import', 'contacts.read'])
  await grant(tally, 'messages', ['contacts.read', 'messages.list', 'messages.send'])
  await grant(tally, 'payments', ['network.request', 'storage.read', 'storage.write'])
  // It continued by itself once it was granted.
  show('minted', await tally.result(asked.id), 'supply')
  const contact = { name: 'Alice', account: 'alice' }
  await tally.intent({ action: 'contacts.add', payload: contact })
  const burnt = await tally.intent({ action: 'wallet.burnFC', payload: { amount: '5' } })
  show('burnt', burnt, 'supply')
}

async function grant(tally: Runtime, name: string, capabilities: string[]): Promise<void> {
  await tally.intent({ action: 'system.grant', payload: { package: name, capabilities } })
}

/** Several steps: one by one, or all or nothing. */
async function compose(tally: Runtime): Promise<void> {
  await run(tally, 'simple')
  await run(tally, 'complex')
  const before = await stateRoot(tally)
  await run(tally, 'rollback')
  const after = await stateRoot(tally)
  console.log('  the state is', before === after ? 'as before' : 'another')
}

async function stateRoot(tally: Runtime): Promise<string> {
  const reply = await tally.intent({ action: 'system.stateroot' })
  return String((reply as { readonly storage?: unknown }).storage)
}

/** A service that is busy, one that is gone, and one that pays and does not answer. */
async function recover(tally: Runtime, { port, payments, behave }: PaymentService): Promise<void> {
  const preference = { subject: 'finance.transactions', provider: 'payments' }
  await tally.intent({ action: 'system.prefer', payload: preference })
  await tally.intent({ action: 'payments.configure', payload: { port } })
  behave({ busy: 2 })
  await run(tally, 'retry')
  await tally.intent({ action: 'payments.configure', payload: { port: 1 } })
  await run(tally, 'fallback')
  await tally.intent({ action: 'payments.configure', payload: { port } })
  behave({ silent: true })
  await run(tally, 'fallback')
  console.log('  the service has paid', payments.size, 'times')
  await tally.intent({ action: 'system.prefer', payload: { ...preference, provider: null } })
}

/** The plan is shown before it runs. */
async function talk(tally: Runtime): Promise<void> {
  const { plan, document } = await tally.planText('Send 10 frame to Alice')
  console.log('plan', plan?.steps.map(({ canonical }) => canonical).join(' -> '))
  if (document !== null) {
    const { status } = await tally.begin(document, { id: 'asked' }).result
    console.log(' ', status)
  }
  const { kind } = await tally.resolveIntent('grant everything to payments')
  console.log('a text that wants to grant is', kind)
}

async function run(tally: Runtime, name: string) {
  const document = await readFile(join(here, 'graphs', `${name}.yaml`), 'utf8')
  const { status, response } = await tally.begin(document).result
  const why = response.details?.['message'] ?? response.reason ?? ''
  const balance = await tally.intent({ action: 'wallet.balance' })
  console.log(name, status, why)
  show('  balance', balance, 'balance')
}

function show(what: string, reply: object, member: string): void {
  console.log(what, (reply as Readonly<Record<string, unknown>>)[member])
}
