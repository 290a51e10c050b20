import { type Json, type JsonObject, limits, sha256 } from '../../core/index.js'
import { chainFailed } from '../failure.js'
import { InvalidArgument } from '../invalid-argument.js'
import type {
  Account,
  AccountRequest,
  CallOptions,
  Prepared,
  SignedTransaction,
  Simulation,
  WriteRequest
} from '../port.js'
import type { About } from '../rpc/failures.js'
import { DEFAULT_SIGNER } from '../rpc/settings.js'
import { answered, count, list, object, text, withContext } from './answers.js'
import type { SolanaChain } from './chain.js'
import { COMPUTE_UNITS_MAX, type SolanaWrite } from './execution.js'
import { type Price, priceCalls, priceIn, transactionFee } from './fees.js'
import { type BuiltInstruction, buildInstruction } from './instruction.js'
import type { Kit } from './kit.js'
import {
  type Living,
  lacksNonce,
  lifetimeCalls,
  lifetimeIn,
  livesUntil,
  withNonce
} from './lifetime.js'
import { type LookupTables, tablesCall, tablesIn } from './lookup-tables.js'
import { type CompiledMessage, compileMessage, instructionJson, wireOf } from './message.js'
import { type InstructionPlace, isUnpaid, revertOf } from './program-errors.js'
import { type FoundAccount, findAccount } from './signer.js'

/** Percent of the units of a simulation that a transaction may use: state moves in between. */
const UNITS_PERCENT = 120
/** What advancing a nonce account takes, which is not simulated. */
const ADVANCE_UNITS = 150

export async function accountOf(
  kit: Kit,
  chain: SolanaChain,
  request: AccountRequest
): Promise<Account> {
  const about = { phase: 'prepare', executionType: null } as const
  const found = await foundAccount(kit, chain, request, about)
  if (found.address !== null) return { address: found.address, canSign: found.kind === 'signer' }
  throw chain.failed('unknown_account', 'no signer is configured and no account is named', about)
}

/** What the program would do, with the state as it is now. */
export async function simulateSolana(
  kit: Kit,
  chain: SolanaChain,
  request: WriteRequest,
  { signal, key }: CallOptions
): Promise<Simulation> {
  const about = { phase: 'simulate', executionType: request.execution.type } as const
  return chain.guarded(about, async () => {
    const write = writeOf(chain, request, about)
    const { address } = await foundAccount(kit, chain, request, about)
    if (address === null) {
      throw chain.failed('unknown_account', 'no account is named that would pay', about)
    }
    const draft = await drafted(kit, chain, { write, payer: address, key, signal })
    const { error, logs, units, place } = await simulated(kit, chain, draft, signal)
    if (error !== null) return { ok: false, revert: revertOf(error, logs, place) }
    return {
      ok: true,
      outputs: { units: String(units), logs: logs.slice(0, limits.CHAIN_LOGS_MAX) }
    }
  })
}

/** Builds, simulates and signs; without a signer, what a wallet has to sign. */
export async function prepareSolana(
  kit: Kit,
  chain: SolanaChain,
  request: WriteRequest,
  { signal, key }: CallOptions
): Promise<Prepared> {
  const about = { phase: 'prepare', executionType: request.execution.type } as const
  return chain.guarded(about, async () => {
    const write = writeOf(chain, request, about)
    const found = await foundAccount(kit, chain, request, about)
    const { terms } = chain.settings
    const payer = found.address
    const { maxFee } = request
    // The wallet sets the fees of what it signs.
    const bound = maxFee === undefined ? {} : { maxFee }
    if (payer === null) {
      const instruction = instructionJson(kit, buildInstruction(write))
      const payload = { transaction: null, instructions: [instruction] }
      const transaction = { chain: chain.id, from: null, payload, ...bound }
      return { kind: 'unsigned', transaction, terms }
    }
    const draft = await drafted(kit, chain, { write, payer, key, signal })
    const units = await unitsOf(kit, chain, draft, signal)
    if (found.kind === 'watched') {
      const own = withNonce(chain, draft)
      const payload = payloadOf(kit, own, compiled(kit, own, units, 0))
      const transaction = { chain: chain.id, from: payer, payload, ...bound }
      return { kind: 'unsigned', transaction, terms }
    }
    if (lacksNonce(chain, draft)) {
      const message = `none of durableNonces is a nonce account of ${payer}`
      throw chain.failed('unknown_account', message, about)
    }
    return {
      kind: 'signed',
      transaction: await signed(kit, chain, { draft, units, found, about, key, ...bound }),
      terms
    }
  })
}

/** What a transaction is made of, as far as the chain has to say it. */
interface Draft extends Living {
  readonly write: SolanaWrite
  readonly instruction: BuiltInstruction
  readonly payer: string
  readonly key: string
  readonly price: Price
  readonly tables: LookupTables
}

async function drafted(
  kit: Kit,
  chain: SolanaChain,
  given: {
    readonly write: SolanaWrite
    readonly payer: string
    readonly key: string
    readonly signal: AbortSignal
  }
): Promise<Draft> {
  const { write, payer, key, signal } = given
  const instruction = buildInstruction(write)
  const commitment = stateOf(chain)
  const { lookup_tables: tables } = write
  const prices = priceCalls(chain.settings.priorityFee, instruction)
  const lives = lifetimeCalls(chain, commitment)
  const calls = [
    ...lives,
    ...(tables.length === 0 ? [] : [tablesCall(tables, commitment)]),
    ...prices
  ]
  // The endpoint names its chain again, before anything is signed.
  const settled = await chain.rpc.settle([...calls, chain.rpc.identity], signal)
  const price = priceIn(
    chain.settings.priorityFee,
    prices.length === 0 ? undefined : settled[calls.length - 1]
  )
  return {
    write,
    instruction,
    payer,
    key,
    price,
    tables: tables.length === 0 ? {} : tablesIn(kit, tables, answered(settled[lives.length])),
    ...lifetimeIn(kit, chain, payer, settled)
  }
}

// A blockhash of a state that may be forked away could not be used on the other fork.
function stateOf(chain: SolanaChain): string {
  const { commitment } = chain.settings
  return commitment === 'processed' ? 'confirmed' : commitment
}

function compiled(kit: Kit, draft: Draft, units: number, turn: number): CompiledMessage {
  const { instruction, payer, price, lifetime, tables, key } = draft
  const salt = sha256(`${key} ${turn}`).readUInt32LE(0)
  const budget = { units, price: price.within(units), salt }
  try {
    return compileMessage(kit, instruction, { payer, budget, lifetime, tables })
  } catch (error) {
    if (error instanceof InvalidArgument) throw error
    throw new InvalidArgument('accounts', 'cannot be put into a transaction')
  }
}

interface Simulated {
  readonly error: Json
  readonly logs: readonly string[]
  readonly units: number
  readonly place: InstructionPlace
}

async function simulated(
  kit: Kit,
  chain: SolanaChain,
  draft: Draft,
  signal: AbortSignal
): Promise<Simulated> {
  const method = 'simulateTransaction'
  // The state of now has advanced its nonce perhaps, which says nothing of what it does.
  const { lifetime } = draft
  const placed =
    'blockhash' in lifetime ? lifetime : { blockhash: lifetime.value, lastValidBlockHeight: 0 }
  const message = compiled(
    kit,
    { ...draft, lifetime: placed },
    draft.write.compute_units ?? COMPUTE_UNITS_MAX,
    0
  )
  const options = {
    encoding: 'base64',
    commitment: stateOf(chain),
    sigVerify: false,
    replaceRecentBlockhash: true
  }
  const answer = await chain.call(method, [wireOf(kit, message), options], signal)
  const { err = null, logs, unitsConsumed } = object(withContext(answer, method).value, method)
  return {
    error: err,
    logs: Array.isArray(logs) ? list(logs, method).map((line) => text(line, method)) : [],
    units: count(unitsConsumed ?? 0, method),
    place: { program: draft.write.program, before: message.before }
  }
}

/** The limit of compute units; a refusal of the program ends it here, before anything is signed. */
async function unitsOf(
  kit: Kit,
  chain: SolanaChain,
  draft: Draft,
  signal: AbortSignal
): Promise<number> {
  const { error, logs, units, place } = await simulated(kit, chain, draft, signal)
  if (error !== null) {
    const revert = revertOf(error, logs, place)
    const about = { phase: 'prepare', executionType: draft.write.type, chain: chain.id } as const
    if (isUnpaid(error)) {
      const message = 'the account cannot pay for fees and rent'
      throw chainFailed('insufficient_funds', { ...about, message, revert })
    }
    const message = revert.reason ?? revert.name ?? 'the program refuses'
    throw chainFailed('reverted', { ...about, message, revert })
  }
  const { compute_units: given } = draft.write
  if (given !== undefined) return given
  const own = draft.nonces.length === 0 ? units : units + ADVANCE_UNITS
  return Math.min(COMPUTE_UNITS_MAX, Math.max(1, Math.ceil((own * UNITS_PERCENT) / 100)))
}

async function signed(
  kit: Kit,
  chain: SolanaChain,
  given: {
    readonly draft: Draft
    readonly units: number
    readonly found: Extract<FoundAccount, { readonly kind: 'signer' }>
    readonly about: About
    readonly key: string
    readonly maxFee?: string
  }
): Promise<SignedTransaction> {
  const { units, found, about, key, maxFee } = given
  const draft = withNonce(chain, given.draft)
  for (let turn = 0; turn < limits.CHAIN_PREPARES_MAX; turn += 1) {
    const message = compiled(kit, draft, units, turn)
    checkFee(chain, { draft, units, signatures: message.signers.length, about, maxFee })
    const signatures = new Map<string, Uint8Array>()
    for (const address of message.signers) {
      const signer =
        address === found.address ? found : await foundSigner(kit, chain, address, about)
      const signature = await signer.signer.signMessage(message.messageBytes)
      await hold(kit, chain, { address, signature, message, about })
      signatures.set(address, signature)
    }
    const first = signatures.get(found.address) ?? new Uint8Array()
    const hash = kit.getBase58Decoder().decode(first)
    // Two calls with one signature would be one effect.
    if (!chain.claim(hash, key)) continue
    const raw = wireOf(kit, message, signatures)
    const { validUntil, lifetime } = livesUntil(draft)
    return { chain: chain.id, from: found.address, hash, nonce: null, validUntil, raw, lifetime }
  }
  throw chain.failed('rejected', 'too many transactions are alike', about)
}

/** Throws a failure `fee_too_high`. Base fee and priority fee are known before it is signed. */
function checkFee(
  chain: SolanaChain,
  given: {
    readonly draft: Draft
    readonly units: number
    readonly signatures: number
    readonly about: About
    readonly maxFee: string | undefined
  }
): void {
  const { draft, units, signatures, about, maxFee } = given
  if (maxFee === undefined) return
  const price = draft.price.within(units)
  const fee = transactionFee(draft.instruction, { signatures, units, price })
  if (fee <= BigInt(maxFee)) return
  throw chain.failed('fee_too_high', `it would cost ${fee}, and may cost ${maxFee}`, about)
}

async function foundSigner(kit: Kit, chain: SolanaChain, address: string, about: About) {
  const found = await findAccount(kit, chain, address)
  if (found.kind === 'signer') return found
  throw chain.failed('unknown_account', `no signer is configured for ${address}`, about)
}

/** A signature that is none would only be found out by silence. */
async function hold(
  kit: Kit,
  chain: SolanaChain,
  given: {
    readonly address: string
    readonly signature: Uint8Array
    readonly message: CompiledMessage
    readonly about: About
  }
): Promise<void> {
  const { address, signature, message, about } = given
  const isRight =
    signature instanceof Uint8Array &&
    signature.length === 64 &&
    (await kit.verifySignature(
      await kit.getPublicKeyFromAddress(kit.address(address)),
      kit.signatureBytes(Uint8Array.from(signature)),
      message.messageBytes
    ))
  if (!isRight)
    throw chain.failed('unknown_account', `the signer of ${address} signs otherwise`, about)
}

/** What a wallet is given; it may set fees and a newer blockhash. */
function payloadOf(kit: Kit, draft: Draft, message: CompiledMessage): JsonObject {
  const { lifetime } = draft
  const transaction = wireOf(kit, message)
  const instructions = [instructionJson(kit, draft.instruction)]
  if (!('blockhash' in lifetime)) {
    return { transaction, instructions, nonce_account: lifetime.account, nonce: lifetime.value }
  }
  const { blockhash, lastValidBlockHeight } = lifetime
  return {
    transaction,
    instructions,
    recent_blockhash: blockhash,
    last_valid_block_height: String(lastValidBlockHeight)
  }
}

function writeOf(chain: SolanaChain, request: WriteRequest, about: About): SolanaWrite {
  const write = chain.parse(request.execution, about)
  if (write.type === 'solana_instruction') return write
  throw chain.failed('invalid_execution', `${write.type} is not a write`, about)
}

async function foundAccount(
  kit: Kit,
  chain: SolanaChain,
  { account = DEFAULT_SIGNER }: Omit<AccountRequest, 'chain'>,
  about: About
): Promise<Extract<FoundAccount, { readonly address: string | null }>> {
  const found = await findAccount(kit, chain, account)
  if (found.kind === 'missing_secret') {
    throw chain.failed('missing_secret', `the key of the signer ${account} is not there`, about)
  }
  if (found.kind === 'unknown') {
    throw chain.failed('unknown_account', `no signer is called ${account}`, about)
  }
  return found
}
