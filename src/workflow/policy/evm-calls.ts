import type { AbiPlain } from '../../executor/index.js'
import { type CallEffect, erc20Asset, isUnlimitedAmount } from './effect.js'

/** What a known function does when it is called at `target`. */
export interface KnownCall {
  /** As its selector is made of it. */
  readonly signature: string
  /** Undefined: no contract could do it, so that nothing is known. */
  readonly effects?: (values: Values, target: Target) => readonly CallEffect[] | undefined
  /** Calls inside of it, as bytes for the target or for the contract that they name. */
  readonly inner?: (values: Values, target: Target) => readonly InnerCall[]
}

export interface Target {
  /** CAIP-2. */
  readonly chain: string
  /** The contract, in lower case. */
  readonly address: string
}

export interface InnerCall {
  readonly address: string
  readonly data: string
}

/** Decoded arguments, by the types of the signature. */
class Values {
  readonly #values: readonly AbiPlain[]

  constructor(values: readonly AbiPlain[]) {
    this.#values = values
  }

  whole(index: number): bigint {
    return BigInt(this.#values[index] as bigint)
  }

  amount(index: number): string {
    return this.whole(index).toString()
  }

  text(index: number): string {
    return String(this.#values[index])
  }

  list(index: number): readonly AbiPlain[] {
    return this.#values[index] as readonly AbiPlain[]
  }

  isTrue(index: number): boolean {
    return this.#values[index] === true
  }

  members(index: number): Values {
    return new Values(this.list(index))
  }
}

/** {@link Values} of what was decoded. */
export function valuesOf(values: readonly AbiPlain[]): Values {
  return new Values(values)
}

function approval(
  { chain }: Target,
  token: string,
  spender: string,
  amount: bigint,
  unlimited = isUnlimitedAmount(amount)
): CallEffect {
  const asset = erc20Asset(chain, token)
  return { kind: 'approval', asset, amount: amount.toString(), spender, unlimited }
}

const WITHOUT_END = 2n ** 256n - 1n

function swap(
  { chain, address }: Target,
  given: {
    readonly token: string
    readonly amount: string
    readonly receiver: string
    readonly minimum: string
  }
): CallEffect {
  const { token, ...rest } = given
  return { kind: 'swap', asset: erc20Asset(chain, token), to: address, ...rest }
}

function payout(receiver: string): CallEffect {
  return { kind: 'payout', receiver }
}

/** `amountIn, amountOutMin, path, to` of a router of the second version. */
function pathSwap(input: number, output: number): NonNullable<KnownCall['effects']> {
  return (values, target) => {
    const [token, ...others] = values.list(2)
    if (others.length === 0) return undefined
    const [amount, minimum] = [values.amount(input), values.amount(output)]
    return [swap(target, { token: String(token), amount, receiver: values.text(3), minimum })]
  }
}

/** The native value is what is given; the function says who is paid, and no less than what. */
function nativeSwap(values: Values, { chain, address }: Target): readonly CallEffect[] {
  const [asset, minimum] = [`${chain}/native`, values.amount(0)]
  // Its amount is the transaction's own value, which is counted once for the whole call.
  return [{ kind: 'swap', asset, amount: '0', to: address, receiver: values.text(2), minimum }]
}

/** `(tokenIn, tokenOut, fee, recipient, [deadline], …)`. */
function singleSwap(input: number, output: number): NonNullable<KnownCall['effects']> {
  return (values, target) => {
    const own = values.members(0)
    const [amount, minimum] = [own.amount(input), own.amount(output)]
    return [swap(target, { token: own.text(0), receiver: own.text(3), amount, minimum })]
  }
}

/** Two addresses with a fee of three bytes between them, in hex digits. */
const SHORTEST_PATH = 2 * (20 + 3 + 20)

/** `(path, recipient, [deadline], …)`; the path of an exact output is written backwards. */
function bytesSwap(
  input: number,
  output: number,
  isBackwards: boolean
): NonNullable<KnownCall['effects']> {
  return (values, target) => {
    const own = values.members(0)
    const path = own.text(0).slice(2)
    if (path.length < SHORTEST_PATH) return undefined
    const token = `0x${isBackwards ? path.slice(-40) : path.slice(0, 40)}`
    const [amount, minimum] = [own.amount(input), own.amount(output)]
    return [swap(target, { token, receiver: own.text(1), amount, minimum })]
  }
}

function ownCalls(index: number): NonNullable<KnownCall['inner']> {
  return (values, { address }) =>
    values.list(index).map((data) => ({ address, data: String(data) }))
}

function othersCalls(index: number, data: number): NonNullable<KnownCall['inner']> {
  return (values) =>
    values.list(index).map((one) => {
      const call = one as readonly AbiPlain[]
      return { address: String(call[0]), data: String(call[data]) }
    })
}

const pathTypes = '(uint256,uint256,address[],address,uint256)'

/**
 * Functions whose effect is known, by selector. A selector is what a contract is called by, so a
 * function of another name with the same selector is judged by this table, too.
 */
export const evmCalls: Readonly<Record<string, KnownCall>> = {
  // ERC-20, eips.ethereum.org/EIPS/eip-20; ERC-721 has the second and third with an id as amount.
  '0xa9059cbb': {
    signature: 'transfer(address,uint256)',
    effects: (values, { chain, address }) => [
      {
        kind: 'transfer',
        asset: erc20Asset(chain, address),
        amount: values.amount(1),
        to: values.text(0)
      }
    ]
  },
  '0x23b872dd': {
    signature: 'transferFrom(address,address,uint256)',
    effects: (values, { chain, address }) => [
      {
        kind: 'transfer',
        asset: erc20Asset(chain, address),
        amount: values.amount(2),
        to: values.text(1)
      }
    ]
  },
  '0x095ea7b3': {
    signature: 'approve(address,uint256)',
    effects: (values, target) => [approval(target, target.address, values.text(0), values.whole(1))]
  },
  // OpenZeppelin Contracts 4, token/ERC20/ERC20.sol: the amount is added to what was allowed.
  '0x39509351': {
    signature: 'increaseAllowance(address,uint256)',
    effects: (values, target) => [approval(target, target.address, values.text(0), values.whole(1))]
  },
  '0xa457c2d7': { signature: 'decreaseAllowance(address,uint256)' },
  // ERC-2612, eips.ethereum.org/EIPS/eip-2612.
  '0xd505accf': {
    signature: 'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)',
    effects: (values, target) => [approval(target, target.address, values.text(1), values.whole(2))]
  },
  // Dai, github.com/makerdao/dss/blob/master/src/dai.sol: all or nothing.
  '0x8fcbaf0c': {
    signature: 'permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)',
    effects: (values, target) => [
      approval(target, target.address, values.text(1), values.isTrue(4) ? WITHOUT_END : 0n)
    ]
  },
  // ERC-721 and ERC-1155, eips.ethereum.org/EIPS/eip-721: every token of the contract.
  '0xa22cb465': {
    signature: 'setApprovalForAll(address,bool)',
    effects: (values, target) => [
      approval(target, target.address, values.text(0), values.isTrue(1) ? WITHOUT_END : 0n)
    ]
  },
  // Permit2, github.com/Uniswap/permit2/blob/main/src/AllowanceTransfer.sol.
  '0x87517c45': {
    signature: 'approve(address,address,uint160,uint48)',
    effects: (values, target) => [approval(target, values.text(0), values.text(1), values.whole(2))]
  },
  // WETH9, github.com/gnosis/canonical-weth: its value is what is given.
  '0xd0e30db0': { signature: 'deposit()' },
  // Uniswap V2, github.com/Uniswap/v2-periphery/blob/master/contracts/UniswapV2Router02.sol.
  '0x38ed1739': {
    signature: `swapExactTokensForTokens${pathTypes}`,
    effects: pathSwap(0, 1)
  },
  '0x8803dbee': {
    signature: `swapTokensForExactTokens${pathTypes}`,
    effects: pathSwap(1, 0)
  },
  '0x18cbafe5': {
    signature: `swapExactTokensForETH${pathTypes}`,
    effects: pathSwap(0, 1)
  },
  '0x4a25d94a': {
    signature: `swapTokensForExactETH${pathTypes}`,
    effects: pathSwap(1, 0)
  },
  '0x5c11d795': {
    signature: `swapExactTokensForTokensSupportingFeeOnTransferTokens${pathTypes}`,
    effects: pathSwap(0, 1)
  },
  '0x791ac947': {
    signature: `swapExactTokensForETHSupportingFeeOnTransferTokens${pathTypes}`,
    effects: pathSwap(0, 1)
  },
  '0x7ff36ab5': {
    signature: 'swapExactETHForTokens(uint256,address[],address,uint256)',
    effects: nativeSwap
  },
  '0xb6f9de95': {
    signature:
      'swapExactETHForTokensSupportingFeeOnTransferTokens(uint256,address[],address,uint256)',
    effects: nativeSwap
  },
  '0xfb3bdb41': {
    signature: 'swapETHForExactTokens(uint256,address[],address,uint256)',
    effects: nativeSwap
  },
  // Uniswap V3, github.com/Uniswap/v3-periphery/blob/main/contracts/SwapRouter.sol.
  '0x414bf389': {
    signature: 'exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))',
    effects: singleSwap(5, 6)
  },
  '0xdb3e2198': {
    signature:
      'exactOutputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))',
    effects: singleSwap(6, 5)
  },
  '0xc04b8d59': {
    signature: 'exactInput((bytes,address,uint256,uint256,uint256))',
    effects: bytesSwap(3, 4, false)
  },
  '0xf28c0498': {
    signature: 'exactOutput((bytes,address,uint256,uint256,uint256))',
    effects: bytesSwap(4, 3, true)
  },
  // SwapRouter02, github.com/Uniswap/swap-router-contracts: no deadline inside.
  '0x472b43f3': {
    signature: 'swapExactTokensForTokens(uint256,uint256,address[],address)',
    effects: pathSwap(0, 1)
  },
  '0x42712a67': {
    signature: 'swapTokensForExactTokens(uint256,uint256,address[],address)',
    effects: pathSwap(1, 0)
  },
  '0x04e45aaf': {
    signature: 'exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))',
    effects: singleSwap(4, 5)
  },
  '0x5023b4df': {
    signature: 'exactOutputSingle((address,address,uint24,address,uint256,uint256,uint160))',
    effects: singleSwap(5, 4)
  },
  '0xb858183f': {
    signature: 'exactInput((bytes,address,uint256,uint256))',
    effects: bytesSwap(2, 3, false)
  },
  '0x09b81346': {
    signature: 'exactOutput((bytes,address,uint256,uint256))',
    effects: bytesSwap(3, 2, true)
  },
  // Uniswap V3, contracts/base/PeripheryPayments.sol and SelfPermit.sol.
  '0x49404b7c': {
    signature: 'unwrapWETH9(uint256,address)',
    effects: (values) => [payout(values.text(1))]
  },
  '0xdf2ab5bb': {
    signature: 'sweepToken(address,uint256,address)',
    effects: (values) => [payout(values.text(2))]
  },
  '0x12210e8a': { signature: 'refundETH()' },
  '0xf3995c67': {
    signature: 'selfPermit(address,uint256,uint256,uint8,bytes32,bytes32)',
    effects: (values, target) => [approval(target, values.text(0), target.address, values.whole(1))]
  },
  // Uniswap V3, contracts/base/Multicall.sol, and the two of SwapRouter02.
  '0xac9650d8': { signature: 'multicall(bytes[])', inner: ownCalls(0) },
  '0x5ae401dc': { signature: 'multicall(uint256,bytes[])', inner: ownCalls(1) },
  '0x1f0464d1': { signature: 'multicall(bytes32,bytes[])', inner: ownCalls(1) },
  // Multicall3, github.com/mds1/multicall.
  '0x252dba42': { signature: 'aggregate((address,bytes)[])', inner: othersCalls(0, 1) },
  '0xbce38bd7': { signature: 'tryAggregate(bool,(address,bytes)[])', inner: othersCalls(1, 1) },
  '0x82ad56cb': { signature: 'aggregate3((address,bool,bytes)[])', inner: othersCalls(0, 2) },
  '0x174dea71': {
    signature: 'aggregate3Value((address,bool,uint256,bytes)[])',
    inner: othersCalls(0, 3)
  }
}
