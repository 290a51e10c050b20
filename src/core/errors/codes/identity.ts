import type { CodeTexts } from '../texts.js'

export const identityCodes = {
  'identity.malformed_seed': {
    message: 'An Ed25519 seed has {actual} bytes instead of 32.',
    fix: 'Pass the 32-byte seed of RFC 8032, not a 64-byte expanded key and not text.'
  },
  'identity.signer_closed': {
    message: 'The signer of {publicKey} is closed.',
    fix: 'Close the signer only after the ledger that signs with it.'
  },
  'identity.invalid_signer': {
    message: 'The signer that was given cannot be used: {problem}.',
    fix: 'Pass a signer that passes signerConformance, and the 32-byte blob key that the identity was made with.'
  },
  'identity.key_file_missing': {
    message: 'There is no key file at {path}.',
    fix: 'Create the identity with "tally init", or name the right location.'
  },
  'identity.key_file_exists': {
    message: 'There is a key file at {path} already, and a key is never overwritten.',
    fix: 'Choose another path, or move the old file away and keep it safe.'
  },
  'identity.key_file_permissions': {
    message: 'The key file {path} can be read by other users (mode {mode}).',
    fix: 'Run: chmod 600 {path}'
  },
  'identity.malformed_key_file': {
    message: 'The key file {path} cannot be read: {problem}.',
    fix: 'Restore the file from its backup; it must be exactly as it was written.'
  },
  'identity.passphrase_missing': {
    message: 'The key file {path} needs a passphrase and none was given.',
    fix: 'Set TALLY_PASSPHRASE (TALLY_APPROVER_PASSPHRASE for the key of an approver), or pass a passphrase that is not empty.'
  },
  'identity.wrong_passphrase': {
    message: 'The passphrase does not open the key file {path}, or the file was altered.',
    fix: 'Check TALLY_PASSPHRASE; if it is right, restore the file from its backup.'
  }
} as const satisfies CodeTexts
