import type { Address } from '@solana/kit'
import type { LiteSVM, TransactionMetadata } from 'litesvm'
import { present } from '../../core/index.js'
import type { RpcValue } from '../rpc-node/index.js'
import type { SolanaLibraries } from './libraries.js'
import { rustValue } from './rust-debug.js'
import type { SolanaSent } from './sent.js'

/** An account as the machine holds it. */
export interface SolanaAccount {
  readonly lamports: bigint
  readonly owner: Address
  readonly data: Uint8Array
  readonly executable: boolean
}

export interface InnerStep {
  readonly programIdIndex: number
  readonly accounts: readonly number[]
  readonly data: Uint8Array
  readonly stackHeight: number
}

/** What a transaction came to, carried out or tried. */
export interface Execution {
  /** As the RPC writes it; null: it succeeded. */
  readonly error: RpcValue
  /** Whether it is in the chain, and has cost its fee; never for one that was only tried. */
  readonly isIncluded: boolean
  readonly fee: bigint
  readonly logs: readonly string[]
  readonly units: bigint
  readonly inner: readonly (readonly InnerStep[])[]
  readonly returned: { readonly program: Address; readonly data: Uint8Array } | undefined
  /** Accounts afterwards, of one that was tried and succeeded. */
  readonly accounts: ReadonlyMap<string, SolanaAccount>
}

type Given = ReturnType<LiteSVM['sendTransaction'] | LiteSVM['simulateTransaction']>

/**
 * The virtual machine of litesvm: accounts and programs. Whether a blockhash is still good and a
 * transaction is new is decided before it, since it knows no more than the newest blockhash.
 */
export class Machine {
  readonly #libraries: SolanaLibraries
  readonly #svm: LiteSVM

  constructor(libraries: SolanaLibraries, state?: Uint8Array) {
    const { LiteSVM } = libraries.litesvm
    this.#libraries = libraries
    const svm = state === undefined ? new LiteSVM() : LiteSVM.fromBytes(state)
    this.#svm = svm.withBlockhashCheck(false).withTransactionHistory(0n)
  }

  get blockhash(): string {
    return this.#svm.latestBlockhash()
  }

  get slot(): number {
    return Number(this.#svm.getClock().slot)
  }

  bytes(): Uint8Array {
    return this.#svm.toBytes()
  }

  /** Begins a slot, with a blockhash of its own. */
  tick(unixSeconds: number): void {
    this.#svm.expireBlockhash()
    const clock = this.#svm.getClock()
    clock.slot += 1n
    clock.unixTimestamp = BigInt(unixSeconds)
    this.#svm.setClock(clock)
  }

  /** Undefined: there is none, or none any more. */
  account(address: Address): SolanaAccount | undefined {
    const found = this.#svm.getAccount(address)
    if (!found.exists || found.lamports === 0n) return undefined
    const { lamports, programAddress: owner, data, executable } = found
    return { lamports, owner, data, executable }
  }

  put(address: Address, { lamports, owner, data, executable }: SolanaAccount): void {
    const space = BigInt(data.length)
    const { lamports: units } = this.#libraries.kit
    const fields = { address, data, executable, programAddress: owner, space }
    this.#svm.setAccount({ ...fields, lamports: units(lamports) })
  }

  /** Addresses of accounts that a program owns. */
  owned(program: Address): readonly Address[] {
    return this.#svm.getProgramAccounts(program).map(({ address }) => address)
  }

  rentExempt(bytes: bigint): bigint {
    return this.#svm.minimumBalanceForRentExemption(bytes)
  }

  carryOut({ transaction }: SolanaSent): Execution {
    return this.#ended(this.#svm.sendTransaction(transaction))
  }

  /** Changes nothing. */
  try({ transaction }: Pick<SolanaSent, 'transaction'>, checksSignatures: boolean): Execution {
    this.#svm.withSigverify(checksSignatures)
    try {
      return this.#ended(this.#svm.simulateTransaction(transaction))
    } finally {
      this.#svm.withSigverify(true)
    }
  }

  #ended(given: Given): Execution {
    const { FailedTransactionMetadata, TransactionMetadata: Metadata } = this.#libraries.litesvm
    if (given instanceof FailedTransactionMetadata) {
      const text = given.toString()
      const error = rustValue(text, text.indexOf('{ err: ') + '{ err: '.length)
      const seen = this.#seen(given.meta())
      return { ...seen, error, accounts: new Map() }
    }
    if (given instanceof Metadata) {
      return { ...this.#seen(given), error: null, accounts: new Map() }
    }
    const accounts = given.postAccounts().map((one): [string, SolanaAccount] => {
      const { address, lamports, programAddress: owner, data, executable } = one
      return [address, { lamports, owner, data: Uint8Array.from(data), executable }]
    })
    return { ...this.#seen(given.meta()), error: null, accounts: new Map(accounts) }
  }

  #seen(meta: TransactionMetadata): Omit<Execution, 'error' | 'accounts'> {
    const { kit } = this.#libraries
    // What the machine refuses before it carries anything out has no signature there.
    const isIncluded = meta.signature().some((byte) => byte !== 0)
    // Only its text has the fee, as its last member.
    const [, fee] = /\bfee: (\d+) \}\)$/.exec(meta.toString()) ?? []
    const returned = meta.returnData()
    const data = returned.data()
    const program = kit.getAddressDecoder().decode(returned.programId())
    return {
      isIncluded,
      fee: BigInt(present(fee, 'the fee')),
      logs: meta.logs(),
      units: meta.computeUnitsConsumed(),
      inner: meta.innerInstructions().map((steps) =>
        steps.map((step) => {
          const instruction = step.instruction()
          return {
            programIdIndex: instruction.programIdIndex(),
            accounts: [...instruction.accounts()],
            data: instruction.data(),
            stackHeight: step.stackHeight()
          }
        })
      ),
      returned: data.length === 0 ? undefined : { program, data }
    }
  }
}
