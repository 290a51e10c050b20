/**
 * Every error code with its message and its fix. Codes are stable: never renamed, never reused.
 * `{name}` is a placeholder; the context type of a code is read off its placeholders.
 * `docs/errors.md` is generated from this table (`npm run docs`).
 *
 * Naming: `room.problem`. `invalid_` = well-formed but not allowed, `malformed_` = cannot be read,
 * `_mismatch` = two things that must agree do not, `_exceeded` = over a limit of `core/limits.ts`.
 */
export const errorCatalogue = {
  'core.not_json': {
    message: 'The value at {path} is not plain JSON: {problem}.',
    fix: 'Pass only null, booleans, finite numbers, strings, arrays and plain objects.'
  },
  'core.not_ledger_value': {
    message: 'The value at {path} cannot be kept in the ledger: {problem}.',
    fix: 'Write larger integers and amounts as decimal strings, and do not use keys that begin with "$".'
  },
  'core.malformed_json': {
    message: 'Text is not strict JSON at offset {offset}: {problem}.',
    fix: 'Write the text as JSON without duplicate keys, inexact integers or lone surrogates.'
  },
  'core.limit_exceeded': {
    message: '{what} is {actual}, over the limit of {limit}.',
    fix: 'Make it smaller, or split the work. Limits are listed in docs/limits.md.'
  },
  'document.malformed': {
    message: 'The document cannot be read at line {line}, column {column}: {problem}.',
    fix: 'Correct the document at that place.'
  },
  'ledger.not_found': {
    message: 'There is no ledger at {path}.',
    fix: 'Create one with `tally init`, or name the directory of an existing ledger.'
  },
  'ledger.exists': {
    message: 'There is a ledger at {path} already.',
    fix: 'Open it, or choose another directory.'
  },
  'ledger.locked': {
    message: 'The ledger at {path} is in use: {problem}.',
    fix: 'Stop the process that holds it, or send it a message through its owner socket.'
  },
  'ledger.corrupt': {
    message: 'The ledger is damaged at {key}: {problem}.',
    fix: 'Do not write to it. Run `tally verify`, and restore a snapshot or use `tally recover`.'
  },
  'ledger.newer_version': {
    message: 'The ledger at {path} has format version {found}; this program knows {known}.',
    fix: 'Use a newer version of tallystick.'
  },
  'ledger.malformed_marker': {
    message: 'The file {path} cannot be read: {problem}.',
    fix: 'Restore marker.json from a backup; it is never written by hand.'
  },
  'ledger.marker_missing': {
    message: 'The directory {path} holds ledger data but no marker.json.',
    fix: 'Restore marker.json from a backup, or move the data-<n> directories away first.'
  },
  'store.open_failed': {
    message: 'The store at {path} cannot be opened: {problem}.',
    fix: 'Check that the directory is on a writable disk with free space, and try again.'
  },
  'store.write_failed': {
    message: 'A write to the store at {path} failed: {problem}.',
    fix: 'Correct the cause, then close the ledger, open it again and verify it.'
  },
  'store.read_failed': {
    message: 'A read from the store at {path} failed: {problem}.',
    fix: 'Check the disk, then close the ledger, open it again and verify it.'
  },
  'store.closed': {
    message: 'The store at {path} is closed.',
    fix: 'Open it again before using it.'
  },
  'owner.unsafe_directory': {
    message: 'The runtime directory {path} cannot be trusted: {problem}.',
    fix: 'Remove it, or set XDG_RUNTIME_DIR to a directory that only you can enter.'
  },
  'owner.path_too_long': {
    message: 'The socket path {path} has {actual} bytes, over the limit of {limit}.',
    fix: 'Set XDG_RUNTIME_DIR to a shorter directory.'
  },
  'owner.malformed_message': {
    message: 'A message on the owner socket cannot be read: {problem}.',
    fix: 'Use the same version of tallystick on both sides.'
  },
  'owner.wrong_ledger': {
    message: 'The owner socket of {expected} answers for {actual}.',
    fix: 'Stop the process that listens there, and remove its socket.'
  },
  'owner.disconnected': {
    message: 'The owner of the ledger closed the connection: {problem}.',
    fix: 'The outcome of a request that was under way is unknown; ask for it by id.'
  },
  'owner.busy': {
    message: 'The owner of the ledger refuses more work: {problem}.',
    fix: 'Wait for earlier requests to end, and try again.'
  },
  'owner.request_failed': {
    message: 'The owner of the ledger failed with {remoteCode}: {problem}',
    fix: 'See the log of the owner process.'
  },
  'core.internal': {
    message: 'Internal assertion failed: {problem}.',
    fix: 'This is a defect in tallystick; please report it with the message above.'
  }
} as const satisfies Readonly<Record<string, { readonly message: string; readonly fix: string }>>

export type ErrorCode = keyof typeof errorCatalogue
