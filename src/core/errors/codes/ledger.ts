import type { CodeTexts } from '../texts.js'

export const ledgerCodes = {
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
  'owner.absent': {
    message: 'No process that holds the ledger at {path} answers.',
    fix: 'Start the service that opens it, or open it here with createRuntime.'
  },
  'owner.client_closed': {
    message: 'The client was closed.',
    fix: 'The outcome of a call that was under way is unknown; connect again and ask for it by id.'
  },
  'ledger.poisoned': {
    message: 'The ledger takes nothing more after a failed write: {problem}',
    fix: 'Close it, open it again, and ask for the outcome of open work by id.'
  },
  'ledger.safe_mode': {
    message: 'The ledger is in safe mode: {problem}',
    fix: 'Run `tally verify`; then restore a snapshot, or use `tally recover`.'
  },
  'ledger.restoring': {
    message: 'The ledger is being restored: {problem}.',
    fix: 'Wait for the end of the import; once a snapshot has its place, close it and open it again.'
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
    message: 'Another writer opened the ledger of {ledger} after this one.',
    fix: 'Stop one of the two; then open the ledger again.'
  },
  'ledger.identity_missing': {
    message: 'There is no ledger of {identity} here.',
    fix: 'Name an identity that `tally identities` lists; `system.identity.create` makes another one.'
  },
  'ledger.identity_exists': {
    message: 'The store holds a ledger of {identity} already.',
    fix: 'Open it instead of creating it.'
  },
  'ledger.wrong_signer': {
    message: 'The key in force of {identity} is {expected}, and the signer holds {actual}.',
    fix: 'Load the key file that belongs to the last key rotation.'
  },
  'ledger.wrong_signature': {
    message: 'The signer of {publicKey} gave {problem}.',
    fix: 'Nothing of it was written. Run `signerConformance` against the signer, and open again.'
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
  'ledger.follower': {
    message: 'The ledger at {path} was imported from a snapshot: it can be read, and runs nothing.',
    fix: 'Put the key file of its identity into keys/ and run `tally import --take-over`, once nothing else runs this identity.'
  },
  'ledger.erased': {
    message: '{what} cannot be read: the key of its subject was erased, or is not here.',
    fix: 'What was erased is gone. In a copy of a ledger, put the directory `subjects` of the original beside its keys.'
  },
  'ledger.not_erased': {
    message: 'Nothing was erased: {problem}.',
    fix: 'Let open runs of the subject end, or cancel them; then erase again.'
  },
  'ledger.subject_erased': {
    message: 'The key of this subject was erased: nothing more is kept under it.',
    fix: 'Give the subject another name, such as one with a number behind it.'
  },
  'ledger.no_subject_key': {
    message: 'The key of the subject of this run is not here.',
    fix: 'Put the directory `subjects` of the original ledger beside its keys; what was erased cannot go on.'
  },
  'ledger.no_subjects': {
    message: 'This ledger keeps no keys of subjects.',
    fix: 'Open it as its owner, with its key file.'
  },
  'ledger.archived': {
    message: '{what} is archived: it stands in {archive}.',
    fix: 'Read it in that archive; `tally verify --archive FILE` checks it, and `tally export --archive FILE` makes a whole snapshot of ledger and archives.'
  },
  'archive.unreadable': {
    message: 'The archive {path} cannot be read: {problem}.',
    fix: 'Name a file that `tally archive` has written.'
  },
  'archive.unwritable': {
    message: 'The archive {path} cannot be written: {problem}.',
    fix: 'Name a new file in a directory that you can write to; no archive is overwritten. Nothing was removed from the ledger.'
  },
  'archive.malformed': {
    message: 'Line {line} of the archive {path} is refused: {problem}.',
    fix: 'Use the file exactly as it was written; it was cut off or altered.'
  },
  'archive.unknown_version': {
    message: 'The archive {path} has version {found} of {part}; this program knows {known}.',
    fix: 'Use the version of tallystick that wrote it.'
  },
  'archive.not_verified': {
    message: 'The archive {path} does not verify: {problem}.',
    fix: 'Do not use it: take another copy of the file.'
  },
  'archive.other_ledger': {
    message: 'The archive {path} is none of this ledger, or not the one that follows: {problem}.',
    fix: 'Give every archive of the ledger, and no other file; `tally verify --json` names them (archived.archives).'
  },
  'archive.nothing': {
    message: 'There is nothing to archive: {problem}.',
    fix: 'Archive later, or name a later date or receipt.'
  },
  'snapshot.unreadable': {
    message: 'The snapshot {path} cannot be read: {problem}.',
    fix: 'Name a file that `tally export` has written.'
  },
  'snapshot.damaged': {
    message: 'The ledger does not verify, and no import would take its snapshot: {problem}.',
    fix: 'Recover it first with `tally recover`, or copy it as it stands with --damaged (damaged: true).'
  },
  'snapshot.unwritable': {
    message: 'The snapshot {path} cannot be written: {problem}.',
    fix: 'Name a new file in a directory that you can write to; no snapshot is overwritten.'
  },
  'snapshot.malformed': {
    message: 'Line {line} of the snapshot {path} is refused: {problem}.',
    fix: 'Use the file exactly as it was written; it was cut off or altered. Nothing was changed.'
  },
  'snapshot.unknown_version': {
    message: 'The snapshot {path} has version {found} of {part}; this program knows {known}.',
    fix: 'Import it with the version of tallystick that wrote it. Nothing was changed.'
  },
  'snapshot.not_verified': {
    message: 'What the snapshot {path} holds does not verify: {problem}.',
    fix: 'Do not use it: its records are not those of a whole ledger. Nothing was changed.'
  },
  'snapshot.over_archives': {
    message:
      'The snapshot is not imported: history of the ledger that is there is archived, in {archive}, and cannot be compared with it.',
    fix: 'Import it into another directory (`--dir`). `tally export FILE --archive FILE` makes a snapshot of the ledger that is there, with its archives.'
  },
  'snapshot.other_identity': {
    message: 'The snapshot is of {actual}, and the ledger at {path} of {expected}.',
    fix: 'Import it into a directory of its own. Nothing was changed.'
  },
  'snapshot.diverges': {
    message: 'Ledger and snapshot are not of one history: {problem}.',
    fix: 'Import it into a directory of its own, and compare the two. Nothing was changed.'
  },
  'receipt.not_found': {
    message: 'There is no receipt {which} in this ledger.',
    fix: 'List the receipts with "tally log".'
  }
} as const satisfies CodeTexts
