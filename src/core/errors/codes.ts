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
  'block.unknown_path': {
    message: 'The run has no block at {path}.',
    fix: 'The journal and the definition do not belong together; verify the ledger.'
  },
  'block.invalid_definition': {
    message: 'Block {name} cannot be defined: {problem}.',
    fix: 'Correct the definition passed to defineBlock.'
  },
  'block.invalid_state_key': {
    message: 'The state key {key} cannot be used.',
    fix: 'Use a non-empty string without NUL that does not begin with "local/".'
  },
  'ledger.poisoned': {
    message: 'The ledger takes nothing more after a failed write: {problem}',
    fix: 'Close it, open it again, and ask for the outcome of open work by id.'
  },
  'ledger.safe_mode': {
    message: 'The ledger is in safe mode: {problem}',
    fix: 'Run `tally verify`; then restore a snapshot, or use `tally recover`.'
  },
  'ledger.closed': {
    message: 'The ledger is closed.',
    fix: 'Open it again before using it.'
  },
  'ledger.read_only': {
    message: 'The ledger was opened for reading only.',
    fix: 'Open it for writing in the process that owns it.'
  },
  'ledger.fenced': {
    message: 'Another writer opened the ledger of {identity} after this one.',
    fix: 'Stop one of the two; then open the ledger again.'
  },
  'ledger.identity_missing': {
    message: 'The store holds no ledger of {identity}.',
    fix: 'Create it with `tally init`, or pass create: "if-absent".'
  },
  'ledger.identity_exists': {
    message: 'The store holds a ledger of {identity} already.',
    fix: 'Open it instead of creating it.'
  },
  'ledger.wrong_signer': {
    message: 'The key in force of {identity} is {expected}, and the signer holds {actual}.',
    fix: 'Load the key file that belongs to the last key rotation.'
  },
  'ledger.unit_exists': {
    message: 'The unit of work {unitId} has a receipt already.',
    fix: 'Use a new id for new work; the stored receipt answers for the old one (L6).'
  },
  'ledger.invalid_item': {
    message: 'The item cannot be appended: {problem}.',
    fix: 'Correct what the block hands to the ledger.'
  },
  'ledger.not_recoverable': {
    message: 'The ledger was not recovered: {problem}.',
    fix: 'Run `tally verify` to see what is wrong, and allow recovery to cut the chain if you must.'
  },
  'ledger.malformed_state_page': {
    message: 'A page of the state tree cannot be read: {problem}.',
    fix: 'Pages are derived: let the ledger rebuild them from its state entries.'
  },
  'ledger.malformed_tile': {
    message: 'Tile {index} of level {level} of the log is missing or too short.',
    fix: 'Tiles are derived: let the ledger rebuild them from its records.'
  },
  'ledger.malformed_proof': {
    message: 'The proof cannot be read: {problem}.',
    fix: 'Use the proof exactly as it was written; it may have been cut off or altered.'
  },
  'ledger.malformed_note': {
    message: 'The note cannot be read: {problem}.',
    fix: 'Use the note exactly as it was written, with its last line break.'
  },
  'ledger.malformed_verifier_key': {
    message: 'The verifier key cannot be read: {problem}.',
    fix: 'Write it as <name>+<8 hex digits>+<base64 of type byte and key>.'
  },
  'ledger.proof_out_of_range': {
    message: 'A proof about {part} in a log of {size} records cannot be made.',
    fix: 'Ask for a record or an earlier size that the log has.'
  },
  'run.not_found': {
    message: 'There is no run {runId} in this ledger.',
    fix: 'List the runs with "tally runs".'
  },
  'run.id_reused': {
    message: 'Run {runId} exists with another {what}.',
    fix: 'Use a new id for other work; the same id stands for the same work.'
  },
  'run.invalid_id': {
    message: 'The run id {runId} cannot be used.',
    fix: 'Use letters, digits and "._:-", at most 128, beginning with a letter or digit.'
  },
  'run.definition_changed': {
    message: 'Run {runId} was started with other versions of its blocks: {difference}.',
    fix: 'Register the versions that the run was started with, or cancel the run.'
  },
  'run.interrupted': {
    message: 'Run {runId} is parked because the runtime closed; nothing is lost.',
    fix: 'Resume it by its id after opening the ledger again: tally resume {runId}.'
  },
  'audit.no_code': {
    message: 'Executing receipts again needs the blocks that they ran, and none are given.',
    fix: 'Give the code, or verify without executing again.'
  },
  'runtime.closed': {
    message: 'The runtime is closed.',
    fix: 'Open a new one with createRuntime.'
  },
  'runtime.too_many_runs': {
    message: '{limit} runs are live already.',
    fix: 'Start more when some have ended or wait for a message.'
  },
  'runtime.invalid_composite': {
    message: 'A registered composite is not valid: {problem}.',
    fix: 'Check it with "tally lint".'
  },
  'runtime.duplicate_name': {
    message: 'Two {what} are registered as {name}.',
    fix: 'Give each its own name.'
  },
  'cli.usage': {
    message: 'The command cannot be used like this: {problem}.',
    fix: 'See "tally help", or "tally help COMMAND" for one command.'
  },
  'cli.unreadable_file': {
    message: 'The file {path} cannot be read: {problem}.',
    fix: 'Check the path and its permissions.'
  },
  'cli.invalid_config': {
    message: 'The configuration {path} cannot be used: {problem}.',
    fix: 'Export what defineConfig gives by default; docs/guide.md shows one.'
  },
  'cli.note_inside': {
    message: 'The note {path} lies in the directory of the ledger that it is to anchor.',
    fix: 'Use a note that was kept elsewhere: whoever could change the ledger could change this one.'
  },
  'cli.ambiguous_wait': {
    message: 'Run {runId} has {count} open waits.',
    fix: 'Name the one you mean by its token; "tally show {runId}" lists them.'
  },
  'cli.no_wait': {
    message: 'Run {runId} waits for no such answer: {problem}.',
    fix: 'See what it waits for with "tally show {runId}".'
  },
  'run.answer_refused': {
    message: 'The answer to run {runId} was refused: {problem}.',
    fix: 'See what it waits for with "tally show {runId}", and answer that.'
  },
  'receipt.not_found': {
    message: 'There is no receipt {which} in this ledger.',
    fix: 'List the receipts with "tally log".'
  },
  'service.unknown_method': {
    message: 'The service has no method {method}.',
    fix: 'Use the same version of tallystick on both sides.'
  },
  'service.invalid_params': {
    message: 'The parameters of {method} are not valid: {problem}.',
    fix: 'Use the same version of tallystick on both sides.'
  },
  'run.journal_forged': {
    message:
      'The journal of run {runId} is not what this ledger wrote: its entries up to {entry} do not fit their code.',
    fix: 'Somebody has changed the ledger. Run "tally verify --replay", and go on from a copy that you trust.'
  },
  'run.unknown_block': {
    message: 'Run {runId} needs the block {block}, which is not registered.',
    fix: 'Register the block with createRuntime or in tally.config, then resume the run.'
  },
  'run.diverged': {
    message:
      'Run {runId} does not repeat what it did: {path} step {step}, call {seq} ({effect}) has request {actual}, recorded was {expected}.',
    fix: 'The code of the block has changed since. Restore the version that the run was started with, or cancel the run.'
  },
  'expression.invalid': {
    message: 'The expression {expression} is invalid: {problem}.',
    fix: 'Correct the expression; docs/spec/expressions.md lists what it may say.'
  },
  'expression.failed': {
    message: 'The expression {expression} has no value ({failure}): {detail}.',
    fix: 'Correct the expression or the values it reads.'
  },
  'sandbox.engine_missing': {
    message: 'Packages cannot run: {package} {version} is not installed.',
    fix: 'Run: npm install --save-exact {package}@{version}'
  },
  'sandbox.engine_mismatch': {
    message: 'The WebAssembly engine has hash {actual}; packages are measured with {expected}.',
    fix: 'Install exactly the version of the engine that package.json names as a peer.'
  },
  'sandbox.engine_failed': {
    message: 'A thread of the sandbox failed: {problem}.',
    fix: 'Try again; if it persists, check the memory left for threads.'
  },
  'sandbox.closed': {
    message: 'The sandbox is closed.',
    fix: 'Open a new one before running packages.'
  },
  'capability.bundler_missing': {
    message: 'A package of several files cannot be packed: esbuild {version} is not installed.',
    fix: 'Run: npm install --save-exact --save-dev esbuild@{version}'
  },
  'capability.malformed_package': {
    message: 'The stored package {codeHash} cannot be used: {problem}.',
    fix: 'Remove it from the content store and install the package again.'
  },
  'capability.duplicate_package': {
    message: 'Two packages have the id {id}.',
    fix: 'Uninstall one of them; an id names one package.'
  },
  'capability.invalid_score': {
    message: 'The score of {what} is not a decimal number of zero or more: {value}.',
    fix: 'Correct cost, latency or reliability in the manifest.'
  },
  'core.internal': {
    message: 'Internal assertion failed: {problem}.',
    fix: 'This is a defect in tallystick; please report it with the message above.'
  },
  'identity.malformed_seed': {
    message: 'An Ed25519 seed has {actual} bytes instead of 32.',
    fix: 'Pass the 32-byte seed of RFC 8032, not a 64-byte expanded key and not text.'
  },
  'identity.malformed_hashes': {
    message: 'The hashes to sign have {actual} bytes, which is not a multiple of 32.',
    fix: 'Concatenate whole 32-byte hashes.'
  },
  'identity.signer_closed': {
    message: 'The signer of {publicKey} is closed.',
    fix: 'Close the signer only after the ledger that signs with it.'
  },
  'identity.signer_failed': {
    message: 'The signer of {publicKey} failed: {problem}.',
    fix: 'Try again; if it persists, check the key service or the memory left for threads.'
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
    fix: 'Set TALLY_PASSPHRASE, or pass a passphrase that is not empty.'
  },
  'identity.wrong_passphrase': {
    message: 'The passphrase does not open the key file {path}, or the file was altered.',
    fix: 'Check TALLY_PASSPHRASE; if it is right, restore the file from its backup.'
  }
} as const satisfies Readonly<Record<string, { readonly message: string; readonly fix: string }>>

export type ErrorCode = keyof typeof errorCatalogue
