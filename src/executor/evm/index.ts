/** tallystick/evm: the executor of EVM chains. Needs viem, an optional peer. */
export type { AbiError, AbiEvent, AbiFunction, AbiParameter } from './abi-types.js'
export type { EvmChainConfig, EvmOptions, EvmSigner, EvmTransaction } from './config.js'
export { evmExecutor } from './executor.js'
export { httpTransport, type RpcReply, type RpcRequest, type RpcTransport } from './transport.js'
