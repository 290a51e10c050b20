/**
 * A process that rotates the key of a ledger and makes other identities again and again until it is
 * killed. Prints `ready <public key>` with the key that it has found in force, `done <public key>`
 * for each rotation and `made <identity>` for each identity whose making was acknowledged.
 */
import { writeSync } from 'node:fs'

const say = (line) => writeSync(1, `${line}\n`)

export async function keyInForce(tally) {
  const approver = { publicKey: 'a'.repeat(64), isApprover: tally.status().receipts % 2 === 0 }
  const reply = await tally.intent({ action: 'system.approver', payload: approver })
  const stored = await tally.receipt(reply.receipt)
  return stored.receipt.publicKey
}

async function main([library, location]) {
  const { createRuntime } = await import(library)
  const tally = await createRuntime({
    location,
    create: 'if-absent',
    insecurePlaintextKey: true,
    serve: false
  })
  say(`ready ${await keyInForce(tally)}`)
  for (;;) {
    const { publicKey } = await tally.intent({ action: 'system.key.rotate' })
    say(`done ${publicKey}`)
    const { identity } = await tally.intent({ action: 'system.identity.create' })
    // A location takes so many, and then no more.
    if (identity !== undefined) say(`made ${identity}`)
  }
}

if (process.argv.length > 3) await main(process.argv.slice(2))
