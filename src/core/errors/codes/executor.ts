import type { CodeTexts } from '../texts.js'

export const executorCodes = {
  'executor.duplicate_execution': {
    message: 'Two executors carry out {type} on the chain {chain}.',
    fix: 'Give one of them another name for the execution type, or leave the chain to one of them.'
  },
  'executor.duplicate_namespace': {
    message: 'Two executors serve the namespace {namespace}.',
    fix: 'Give one executor all chains of a namespace.'
  },
  'executor.invalid_configuration': {
    message: 'The chain {chain} cannot be used: {problem}.',
    fix: 'Correct the configuration of the chain; secrets are given as env:NAME or file:PATH.'
  },
  'executor.invalid_key': {
    message: 'The key of the signer {name} is not 32 bytes in hex.',
    fix: 'Put the private key into the variable or file that the signer refers to, as 0x-hex.'
  },
  'executor.invalid_solana_key': {
    message: 'The key of the signer {name} is not the 64 bytes of a Solana key.',
    fix: 'Refer to the file that the Solana CLI writes (64 numbers), or to the same bytes in base58.'
  },
  'executor.missing_library': {
    message: 'The library {library} is needed and not installed.',
    fix: 'Install it beside tallystick: npm install {library}.'
  }
} as const satisfies CodeTexts
