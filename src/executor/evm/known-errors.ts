import type { AbiError } from './abi-types.js'

/** Errors of the ERC-6093 tokens and of common base contracts, decoded without being asked for. */
export const knownErrors: readonly AbiError[] = [
  error('ERC20InsufficientBalance', 'address sender', 'uint256 balance', 'uint256 needed'),
  error('ERC20InvalidSender', 'address sender'),
  error('ERC20InvalidReceiver', 'address receiver'),
  error('ERC20InsufficientAllowance', 'address spender', 'uint256 allowance', 'uint256 needed'),
  error('ERC20InvalidApprover', 'address approver'),
  error('ERC20InvalidSpender', 'address spender'),
  error('SafeERC20FailedOperation', 'address token'),
  error('ERC721NonexistentToken', 'uint256 tokenId'),
  error('ERC721IncorrectOwner', 'address sender', 'uint256 tokenId', 'address owner'),
  error('ERC721InsufficientApproval', 'address operator', 'uint256 tokenId'),
  error('OwnableUnauthorizedAccount', 'address account'),
  error('AccessControlUnauthorizedAccount', 'address account', 'bytes32 neededRole'),
  error('EnforcedPause'),
  error('ReentrancyGuardReentrantCall'),
  error('FailedCall'),
  error('AddressEmptyCode', 'address target')
]

function error(name: string, ...inputs: readonly string[]): AbiError {
  return {
    type: 'error',
    name,
    inputs: inputs.map((input) => {
      const [type = '', parameter = ''] = input.split(' ')
      return { type, name: parameter }
    })
  }
}
