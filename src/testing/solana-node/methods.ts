import type { Json, JsonObject } from '../../core/index.js'
import { NodeError, type RpcValue, rpcErrors } from '../rpc-node/index.js'
import { type Commitment, type SolanaChain, secondOf, VALIDITY_BLOCKS } from './chain.js'
import { errorText } from './error-text.js'
import type { Faucet } from './faucet.js'
import type { SolanaLibraries } from './libraries.js'
import type { Execution, SolanaAccount } from './machine.js'
import {
  blockCommitmentIn,
  commitmentIn,
  filterIn,
  optionsIn,
  textIn,
  textsIn,
  wholeIn,
  wireEncodingIn
} from './params.js'
import {
  addressOf,
  bytesOf,
  decodeMessage,
  decodeSent,
  type SolanaSent,
  signatureOf
} from './sent.js'
import { shownInner, shownReturn } from './shown-meta.js'
import { invalidParam, solanaErrors } from './solana-error.js'
import { holdingIn, isTokenProgram, mintIn, shownUnits } from './tokens.js'
import { accountView, memoOf, statusView, transactionView } from './views.js'

const VERSION = { 'solana-core': '3.0.0', 'feature-set': 0 }
const SLOTS_IN_EPOCH = 432_000
const STATUSES_MAX = 256
const ACCOUNTS_MAX = 100
const SIGNATURES_MAX = 1_000

type Method = (params: readonly Json[]) => RpcValue | Promise<RpcValue>

/** What the node answers to; everything else is refused as a node refuses it. */
export class SolanaMethods {
  readonly #libraries: SolanaLibraries
  readonly #chain: SolanaChain
  readonly #faucet: Faucet
  /** Micro-lamports for a unit, as `getRecentPrioritizationFees` gives them. */
  readonly #prioritizationFee: number
  readonly #methods: Readonly<Record<string, Method>> = {
    getAccountInfo: ([address, given]) => this.#account(textIn(address), optionsIn(given)),
    getBalance: ([address, given]) => {
      const lamports = this.#accountAt(textIn(address))?.lamports ?? 0n
      return this.#inContext(optionsIn(given), lamports)
    },
    getBlockHeight: ([given]) => this.#block(optionsIn(given)).height,
    getBlockTime: ([slot]) => secondOf(wholeIn(slot)),
    getEpochInfo: ([given]) => this.#epoch(optionsIn(given)),
    getFeeForMessage: ([text, given]) => this.#fee(textIn(text), optionsIn(given)),
    getFirstAvailableBlock: () => 0,
    getGenesisHash: () => this.#chain.genesisHash,
    getHealth: () => 'ok',
    getLatestBlockhash: ([given]) => this.#latestBlockhash(optionsIn(given)),
    getMinimumBalanceForRentExemption: ([bytes]) =>
      this.#chain.machine.rentExempt(BigInt(wholeIn(bytes))),
    getMultipleAccounts: ([addresses, given]) => this.#accounts(addresses, optionsIn(given)),
    getProgramAccounts: ([program, given]) => this.#owned(textIn(program), optionsIn(given)),
    getRecentPrioritizationFees: ([addresses]) => this.#priorityFees(addresses),
    getSignatureStatuses: ([signatures, given]) => this.#statuses(signatures, optionsIn(given)),
    getSignaturesForAddress: ([address, given]) =>
      this.#signatures(textIn(address), optionsIn(given)),
    getSlot: ([given]) => this.#block(optionsIn(given)).slot,
    getTokenAccountBalance: ([address, given]) => this.#held(textIn(address), optionsIn(given)),
    getTokenAccountsByOwner: ([owner, filter, given]) =>
      this.#holdings(textIn(owner), optionsIn(filter), optionsIn(given)),
    getTokenSupply: ([address, given]) => this.#supply(textIn(address), optionsIn(given)),
    getTransaction: ([signature, given]) => this.#transaction(textIn(signature), given ?? null),
    getVersion: () => VERSION,
    isBlockhashValid: ([blockhash, given]) => {
      const options = optionsIn(given)
      const isValid = this.#chain.isValid(textIn(blockhash), commitmentIn(options))
      return this.#inContext(options, isValid)
    },
    requestAirdrop: ([address, lamports]) => this.#airdrop(textIn(address), wholeIn(lamports)),
    sendTransaction: ([text, given]) => this.#send(textIn(text), optionsIn(given)),
    simulateTransaction: ([text, given]) => this.#simulate(textIn(text), optionsIn(given))
  }

  constructor(
    libraries: SolanaLibraries,
    chain: SolanaChain,
    options: { readonly faucet: Faucet; readonly prioritizationFee: number }
  ) {
    this.#libraries = libraries
    this.#chain = chain
    this.#faucet = options.faucet
    this.#prioritizationFee = options.prioritizationFee
  }

  /** Throws {@link NodeError}. */
  async answer(method: string, params: readonly Json[]): Promise<RpcValue> {
    const known = Object.hasOwn(this.#methods, method) ? this.#methods[method] : undefined
    if (known !== undefined) return known(params)
    throw new NodeError(rpcErrors.unknownMethod, 'Method not found')
  }

  get #kit(): SolanaLibraries['kit'] {
    return this.#libraries.kit
  }

  #block(options: JsonObject, commitment: Commitment = commitmentIn(options)) {
    const block = this.#chain.block(commitment)
    const least = options['minContextSlot'] ?? 0
    if (wholeIn(least) <= block.slot) return block
    const data = { contextSlot: block.slot }
    throw new NodeError(
      solanaErrors.minContextSlot,
      'Minimum context slot has not been reached',
      data
    )
  }

  #inContext(options: JsonObject, value: RpcValue): RpcValue {
    const { slot } = this.#block(options)
    return { context: { apiVersion: VERSION['solana-core'], slot }, value }
  }

  #accountAt(address: string): SolanaAccount | undefined {
    return this.#chain.machine.account(addressOf(this.#kit, address))
  }

  #account(address: string, options: JsonObject): RpcValue {
    const view = accountView(this.#kit, this.#accountAt(address), options)
    return this.#inContext(options, view)
  }

  #accounts(addresses: Json | undefined, options: JsonObject): RpcValue {
    const encoding = options['encoding'] ?? 'base64'
    const views = textsIn(addresses, ACCOUNTS_MAX).map((address) =>
      accountView(this.#kit, this.#accountAt(address), { ...options, encoding })
    )
    return this.#inContext(options, views)
  }

  #epoch(options: JsonObject): RpcValue {
    const { slot, height } = this.#block(options)
    return {
      absoluteSlot: slot,
      blockHeight: height,
      epoch: Math.floor(slot / SLOTS_IN_EPOCH),
      slotIndex: slot % SLOTS_IN_EPOCH,
      slotsInEpoch: SLOTS_IN_EPOCH,
      transactionCount: this.#chain.records.length
    }
  }

  #latestBlockhash(options: JsonObject): RpcValue {
    const { blockhash, height } = this.#block(options)
    return this.#inContext(options, {
      blockhash,
      lastValidBlockHeight: height + VALIDITY_BLOCKS
    })
  }

  #priorityFees(addresses: Json | undefined): RpcValue {
    for (const address of textsIn(addresses ?? [], 128)) addressOf(this.#kit, address)
    const prioritizationFee = this.#prioritizationFee
    return this.#chain.slots(VALIDITY_BLOCKS).map((slot) => ({ slot, prioritizationFee }))
  }

  #fee(text: string, options: JsonObject): RpcValue {
    const messageBytes = bytesOf(this.#kit, text, 'base64')
    const message = messageIn(() => decodeMessage(this.#kit, messageBytes))
    if (!this.#chain.isValid(message.lifetimeToken, commitmentIn(options))) {
      return this.#inContext(options, null)
    }
    const signers = message.staticAccounts.slice(0, message.header.numSignerAccounts)
    const signatures = Object.fromEntries(signers.map((address) => [address, null]))
    const transaction = { messageBytes, signatures } as unknown as SolanaSent['transaction']
    return this.#inContext(options, this.#chain.machine.try({ transaction }, false).fee)
  }

  #statuses(given: Json | undefined, options: JsonObject): RpcValue {
    const isDeep = options['searchTransactionHistory'] === true
    const statuses = textsIn(given, STATUSES_MAX).map((signature) => {
      const record = this.#chain.find(signatureOf(this.#kit, signature))
      if (record === undefined || !(isDeep || this.#chain.isRecent(record))) return null
      return statusView(this.#chain, record)
    })
    const { slot } = this.#chain.block('processed')
    return { context: { apiVersion: VERSION['solana-core'], slot }, value: statuses }
  }

  #transaction(signature: string, given: Json): RpcValue {
    const options = typeof given === 'string' ? { encoding: given } : optionsIn(given)
    const { slot } = this.#chain.block(blockCommitmentIn(options))
    const record = this.#chain.find(signatureOf(this.#kit, signature))
    if (record === undefined || record.slot > slot) return null
    return transactionView(this.#kit, record, options)
  }

  #signatures(address: string, options: JsonObject): RpcValue {
    addressOf(this.#kit, address)
    const { slot: newest } = this.#block(options, blockCommitmentIn(options))
    const { before, until, limit = SIGNATURES_MAX } = options
    const most = wholeIn(limit)
    if (most < 1 || most > SIGNATURES_MAX) {
      throw invalidParam(`Invalid limit; max ${SIGNATURES_MAX}`)
    }
    const all = this.#chain.records.filter(({ slot }) => slot <= newest).toReversed()
    const begin = typeof before === 'string' ? indexOf(all, before) + 1 : 0
    const end = typeof until === 'string' ? indexOf(all, until) : -1
    const asked = all.slice(begin, end < 0 ? undefined : end)
    const own = asked.filter(({ accounts }) => accounts.includes(address)).slice(0, most)
    return own.map((record) => ({
      signature: record.sent.signature,
      slot: record.slot,
      err: record.error,
      memo: memoOf(record),
      blockTime: secondOf(record.slot),
      confirmationStatus: this.#chain.commitmentOf(record)
    }))
  }

  #held(address: string, options: JsonObject): RpcValue {
    const account = this.#accountAt(address)
    if (account === undefined) throw invalidParam('Invalid param: could not find account')
    const held = holdingIn(this.#kit, account)
    if (held === undefined) throw invalidParam('Invalid param: not a Token account')
    const mint = mintIn(this.#kit, this.#accountAt(held.mint))
    if (mint === undefined) throw invalidParam('Invalid param: could not find mint')
    return this.#inContext(options, shownUnits(held.units, mint.decimals))
  }

  #supply(address: string, options: JsonObject): RpcValue {
    const account = this.#accountAt(address)
    if (account === undefined) throw invalidParam('Invalid param: could not find account')
    const mint = mintIn(this.#kit, account)
    if (mint === undefined) throw invalidParam('Invalid param: not a Token mint')
    return this.#inContext(options, shownUnits(mint.supply, mint.decimals))
  }

  #holdings(owner: string, { mint, programId }: JsonObject, options: JsonObject): RpcValue {
    addressOf(this.#kit, owner)
    const program =
      typeof mint === 'string'
        ? this.#accountAt(mint)?.owner
        : addressOf(this.#kit, textIn(programId))
    if (program === undefined) throw invalidParam('Invalid param: could not find mint')
    if (!isTokenProgram(program)) throw invalidParam('Invalid param: unrecognized Token program id')
    const found = this.#chain.machine.owned(program).flatMap((address) => {
      const account = this.#accountAt(address)
      const held = holdingIn(this.#kit, account)
      if (held?.owner !== owner || (typeof mint === 'string' && held.mint !== mint)) return []
      return [{ pubkey: address, account: accountView(this.#kit, account, options) }]
    })
    return this.#inContext(options, found)
  }

  #owned(program: string, options: JsonObject): RpcValue {
    const matches = filterIn(this.#kit, options['filters'])
    const found = this.#chain.machine.owned(addressOf(this.#kit, program)).flatMap((address) => {
      const account = this.#accountAt(address)
      if (account === undefined || !matches(account.data)) return []
      return [{ pubkey: address, account: accountView(this.#kit, account, options) }]
    })
    return options['withContext'] === true ? this.#inContext(options, found) : found
  }

  async #airdrop(address: string, lamports: number): Promise<RpcValue> {
    const to = addressOf(this.#kit, address)
    const sent = await this.#faucet.transfer(to, BigInt(lamports))
    this.#chain.receive(sent)
    return sent.signature
  }

  #send(text: string, options: JsonObject): RpcValue {
    const sent = decodeSent(this.#libraries, text, wireEncodingIn(options))
    if (options['skipPreflight'] !== true) this.#preflight(sent, options)
    this.#chain.receive(sent)
    return sent.signature
  }

  #preflight(sent: SolanaSent, options: JsonObject): void {
    const commitment = commitmentIn(options, 'preflightCommitment')
    this.#block(options, commitment)
    const checks = { checksSignatures: true, checksBlockhash: true }
    const tried = this.#tried(sent, { commitment, ...checks })
    if (tried.error === null) return
    const message = `Transaction simulation failed: ${errorText(tried.error)}`
    const none = { accounts: null, innerInstructions: null, replacementBlockhash: null }
    const data = { ...this.#simulated(tried), ...none }
    throw new NodeError(solanaErrors.preflightFailed, message, data)
  }

  #simulate(text: string, options: JsonObject): RpcValue {
    const sent = decodeSent(this.#libraries, text, wireEncodingIn(options))
    const checksSignatures = options['sigVerify'] === true
    const replaces = options['replaceRecentBlockhash'] === true
    if (checksSignatures && replaces) {
      throw invalidParam('sigVerify may not be used with replaceRecentBlockhash')
    }
    const commitment = commitmentIn(options)
    const tried = this.#tried(sent, { commitment, checksSignatures, checksBlockhash: !replaces })
    const { blockhash, height } = this.#block(options)
    const replacement = { blockhash, lastValidBlockHeight: height + VALIDITY_BLOCKS }
    return this.#inContext(options, {
      ...this.#simulated(tried),
      innerInstructions:
        options['innerInstructions'] === true ? shownInner(this.#kit, tried) : null,
      accounts: this.#accountsAfter(tried, optionsIn(options['accounts'])),
      ...(replaces ? { replacementBlockhash: replacement } : {})
    })
  }

  #tried(sent: SolanaSent, options: Parameters<SolanaChain['preflight']>[1]): Execution {
    const refusal = new NodeError(
      solanaErrors.signatureRefused,
      'Transaction signature verification failure'
    )
    if (options.checksSignatures && !sent.isSigned) throw refusal
    const tried = this.#chain.preflight(sent, options)
    if (tried.error === 'SignatureFailure') throw refusal
    return tried
  }

  #simulated(tried: Execution): { readonly [key: string]: RpcValue } {
    const { error, logs, units } = tried
    return {
      err: error,
      logs,
      unitsConsumed: units,
      returnData: shownReturn(this.#kit, tried)
    }
  }

  #accountsAfter({ error, accounts }: Execution, asked: JsonObject): RpcValue {
    if (asked['addresses'] === undefined) return null
    return textsIn(asked['addresses'], ACCOUNTS_MAX).map((address) => {
      const account = accounts.get(address) ?? this.#accountAt(address)
      return error === null ? accountView(this.#kit, account, asked) : null
    })
  }
}

function indexOf(records: readonly { readonly sent: SolanaSent }[], signature: string): number {
  return records.findIndex(({ sent }) => sent.signature === signature)
}

function messageIn<Message>(read: () => Message): Message {
  try {
    return read()
  } catch {
    throw invalidParam('failed to deserialize solana_message::versioned::VersionedMessage')
  }
}
