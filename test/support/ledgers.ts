import {
  type CreateLedgerOptions,
  createLedger as create,
  type Ledger,
  type OpenLedgerOptions,
  openLedger as open
} from '../../src/ledger/index.js'
import { verifyClosed } from './verified-close.js'

/** Ledgers without a runtime, which are verified when the test closes them. */

type Opened = Awaited<ReturnType<typeof open>>

export async function openLedger(options: OpenLedgerOptions): Promise<Opened> {
  return verifiedWhenClosed(await open(options), options)
}

export async function createLedger(options: CreateLedgerOptions): Promise<Opened> {
  return verifiedWhenClosed(await create(options), options)
}

function verifiedWhenClosed<Kind extends Ledger>(
  ledger: Kind,
  { store, readOnly = false }: OpenLedgerOptions
): Kind {
  if (readOnly) return ledger
  const close = ledger.close.bind(ledger)
  ledger.close = async () => {
    await close()
    await verifyClosed(ledger, store)
  }
  return ledger
}
