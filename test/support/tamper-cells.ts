/** What can be asked of an altered ledger. */
export type TamperColumn =
  | 'verify'
  | 'replay'
  | 'note'
  | 'open'
  | 'parked'
  | 'ended'
  | 'journal'
  | 'receipt'
  | 'log'
  | 'runs'
  | 'sign'
  | 'approve'
  | 'resume'
  | 'run'
  | 'export'
  | 'import'

/** What catches a row where; where nothing stands, what is shown, done and written is honest. */
export type TamperCells = Partial<Record<TamperColumn, string>> & {
  /** What each verification with the key finds first; the columns are then by the bytes alone. */
  readonly withKey?: string
  /**
   * Why something forged may be shown there, which the report then says is not checked:
   * `own key`: the holder of the key can rewrite all; only a note from outside finds it.
   * `blob key`: the journal of an open run, shown without the key.
   * `safe mode`: what is in a ledger that is in safe mode is shown with that, and not acted on.
   * `changes`: what a receipt has changed is signed as the state after it, and shown as written.
   */
  readonly alone?: 'own key' | 'blob key' | 'safe mode' | 'changes'
}

/** By the name of the row: fields of verifications, and codes of errors and of causes. */
export const cells: Readonly<Record<string, TamperCells>> = {
  'the run records, with the wait and the result that are shown': {
    verify: 'derived.run',
    replay: 'derived.run',
    note: 'derived.run'
  },
  'the status in run records': {
    verify: 'derived.run',
    replay: 'derived.run',
    note: 'derived.run'
  },
  'the signature of an answer, hashed anew, with its derived records gone': {
    verify: 'journal.by.approvals',
    replay: 'journal.by.approvals',
    note: 'journal.by.approvals',
    ended: 'run.journal_forged',
    journal: 'run.journal_forged',
    export: 'snapshot.damaged',
    import: 'snapshot.not_verified'
  },
  'the index': {
    verify: 'derived.index',
    replay: 'derived.index',
    note: 'derived.index'
  },
  'the chain blocks': {
    verify: 'derived.chain',
    replay: 'derived.chain',
    note: 'derived.chain'
  },
  'the log tiles': {
    verify: 'derived.tile',
    replay: 'derived.tile',
    note: 'derived.tile'
  },
  'the state pages': {
    verify: 'derived.pages',
    replay: 'derived.pages',
    note: 'derived.pages'
  },
  'the codes of derived records': { withKey: 'derived.code' },
  'the codes of the checkpoints': { withKey: 'derived.code' },
  'the checkpoints': { withKey: 'derived.code' },
  'the stamp': {
    verify: 'derived.receipts',
    replay: 'derived.receipts',
    note: 'derived.receipts'
  },
  'all derived records but the stamp': {
    verify: 'store',
    replay: 'store',
    note: 'store'
  },
  'the result text': {
    verify: 'resultHash',
    replay: 'resultHash',
    note: 'resultHash',
    open: 'ledger.corrupt',
    ended: 'run.result_forged',
    journal: 'run.result_forged',
    receipt: 'run.result_forged',
    sign: 'ledger.safe_mode',
    approve: 'ledger.safe_mode',
    resume: 'ledger.safe_mode',
    run: 'run.result_forged',
    export: 'snapshot.damaged',
    import: 'snapshot.not_verified'
  },
  'the journal of all runs': {
    withKey: 'journal.code',
    verify: 'journalHash',
    replay: 'journal.inputHash',
    note: 'journalHash',
    open: 'run.journal_forged',
    parked: 'run.wait_forged',
    ended: 'run.result_forged',
    journal: 'run.result_forged',
    sign: 'ledger.safe_mode',
    approve: 'run.journal_forged',
    resume: 'run.journal_forged',
    export: 'snapshot.damaged',
    import: 'snapshot.not_verified'
  },
  'the journal of the run that waits, with its derived records gone': {
    withKey: 'journal.code',
    sign: 'ledger.safe_mode',
    open: 'run.journal_forged',
    replay: 'journal.inputHash',
    parked: 'run.wait_forged',
    approve: 'run.wait_forged',
    resume: 'run.wait_forged',
    export: 'snapshot.damaged'
  },
  'the journal of all runs, with their derived records gone': {
    withKey: 'journal.code',
    verify: 'journalHash',
    replay: 'journal.inputHash',
    note: 'journalHash',
    open: 'run.journal_forged',
    parked: 'run.wait_forged',
    ended: 'run.result_forged',
    journal: 'run.result_forged',
    sign: 'ledger.safe_mode',
    approve: 'run.wait_forged',
    resume: 'run.wait_forged',
    run: 'run.result_forged',
    export: 'snapshot.damaged',
    import: 'snapshot.not_verified'
  },
  receipts: {
    verify: 'receiptHash',
    replay: 'receiptHash',
    note: 'receiptHash',
    open: 'ledger.corrupt',
    parked: 'run.not_found',
    ended: 'run.not_found',
    journal: 'run.not_found',
    sign: 'ledger.safe_mode',
    approve: 'ledger.safe_mode',
    resume: 'ledger.safe_mode',
    export: 'snapshot.damaged',
    import: 'snapshot.unreadable'
  },
  'a state value, with its page, deleted, and the head mended': {
    verify: 'head.storageRoot',
    replay: 'head.storageRoot',
    note: 'head.storageRoot',
    open: 'ledger.corrupt',
    sign: 'ledger.safe_mode',
    approve: 'ledger.safe_mode',
    resume: 'ledger.safe_mode',
    export: 'snapshot.damaged',
    import: 'snapshot.not_verified'
  },
  'the result, hashed anew': {
    withKey: 'journal.code',
    verify: 'signature',
    replay: 'journal.response',
    note: 'signature',
    open: 'ledger.corrupt',
    parked: 'run.not_found',
    sign: 'ledger.safe_mode',
    approve: 'ledger.safe_mode',
    resume: 'ledger.safe_mode',
    run: 'run.result_forged',
    export: 'snapshot.damaged',
    import: 'snapshot.unreadable',
    alone: 'safe mode'
  },
  'the result, signed with another key': {
    withKey: 'journal.code',
    verify: 'publicKey',
    replay: 'publicKey',
    note: 'publicKey',
    open: 'ledger.corrupt',
    parked: 'run.not_found',
    sign: 'ledger.safe_mode',
    approve: 'ledger.safe_mode',
    resume: 'ledger.safe_mode',
    run: 'run.result_forged',
    export: 'snapshot.damaged',
    import: 'snapshot.unreadable',
    alone: 'safe mode'
  },
  'the result, signed with the own key': {
    withKey: 'journal.code',
    verify: 'previousReceiptHash',
    replay: 'journal.response',
    note: 'previousReceiptHash',
    open: 'ledger.corrupt',
    parked: 'run.not_found',
    sign: 'ledger.safe_mode',
    approve: 'ledger.safe_mode',
    resume: 'ledger.safe_mode',
    run: 'run.result_forged',
    export: 'snapshot.damaged',
    import: 'snapshot.unreadable',
    alone: 'safe mode'
  },
  'a commit in the middle dropped': {
    verify: 'commit.seq',
    replay: 'commit.seq',
    note: 'commit.seq',
    open: 'ledger.corrupt',
    parked: 'run.not_found',
    ended: 'run.not_found',
    journal: 'run.not_found',
    sign: 'ledger.safe_mode',
    approve: 'ledger.corrupt',
    resume: 'ledger.corrupt',
    run: 'run.result_forged',
    export: 'snapshot.damaged',
    import: 'snapshot.unreadable'
  },
  'two commits swapped': {
    verify: 'commit.seq',
    replay: 'commit.seq',
    note: 'commit.seq',
    open: 'ledger.corrupt',
    parked: 'run.not_found',
    ended: 'run.not_found',
    journal: 'run.not_found',
    sign: 'ledger.safe_mode',
    approve: 'ledger.safe_mode',
    resume: 'ledger.safe_mode',
    export: 'snapshot.damaged',
    import: 'snapshot.unreadable'
  },
  'a receipt of another ledger in place of one': {
    verify: 'identity',
    replay: 'identity',
    note: 'identity',
    open: 'ledger.corrupt',
    parked: 'run.not_found',
    ended: 'run.not_found',
    journal: 'run.not_found',
    sign: 'ledger.safe_mode',
    approve: 'ledger.safe_mode',
    resume: 'ledger.safe_mode',
    export: 'snapshot.damaged',
    import: 'snapshot.unreadable'
  },
  'the last commit dropped': {
    verify: 'head.seq',
    replay: 'head.seq',
    note: 'head.seq',
    open: 'ledger.corrupt',
    sign: 'ledger.safe_mode',
    approve: 'ledger.corrupt',
    resume: 'ledger.corrupt',
    export: 'snapshot.damaged',
    import: 'snapshot.not_verified'
  },
  'the data of an earlier time, under the lock of now': {
    verify: 'lock.receipts',
    replay: 'lock.receipts',
    note: 'note.size',
    open: 'runtime.rolled_back',
    parked: 'run.not_found',
    sign: 'ledger.safe_mode',
    approve: 'run.not_found',
    resume: 'run.not_found',
    export: 'snapshot.damaged'
  },
  'the data of an earlier time, without a lock': {
    note: 'note.size',
    parked: 'run.not_found',
    approve: 'run.not_found',
    resume: 'run.not_found',
    alone: 'own key'
  },
  'the data and the lock of an earlier time': {
    note: 'note.size',
    parked: 'run.not_found',
    approve: 'run.not_found',
    resume: 'run.not_found',
    alone: 'own key'
  },
  'a history made again with the own key, under the lock of the first': {
    verify: 'lock.receiptHash',
    replay: 'lock.receiptHash',
    note: 'note',
    open: 'runtime.integrity_lock',
    sign: 'ledger.safe_mode',
    approve: 'ledger.safe_mode',
    resume: 'ledger.safe_mode',
    run: 'run.id_reused',
    export: 'snapshot.damaged',
    alone: 'safe mode'
  },
  'a history made again with the own key, with its lock': {
    note: 'note',
    run: 'run.id_reused',
    alone: 'own key'
  },
  'the journal of the run that waits, as the own key would write it': {
    replay: 'journal.base',
    alone: 'own key'
  },
  'the journal of the run that waits, in order but for its code': {
    withKey: 'journal.code',
    sign: 'ledger.safe_mode',
    open: 'run.journal_forged',
    replay: 'journal.base',
    approve: 'run.journal_forged',
    resume: 'run.journal_forged',
    export: 'snapshot.damaged',
    alone: 'blob key'
  },
  'derived records that are older than their stamp': {
    verify: 'derived.chain',
    replay: 'derived.chain',
    note: 'derived.chain'
  },
  'a state value, with its page': {
    verify: 'state',
    replay: 'state',
    note: 'state',
    export: 'snapshot.damaged',
    import: 'snapshot.not_verified'
  },
  'the integrity lock': {
    withKey: 'lock',
    verify: 'lock.receiptHash',
    replay: 'lock.receiptHash',
    note: 'lock.receiptHash',
    open: 'runtime.integrity_lock',
    sign: 'ledger.safe_mode',
    approve: 'ledger.safe_mode',
    resume: 'ledger.safe_mode',
    export: 'snapshot.damaged'
  },
  'the input of the run that has ended, with its derived records gone': {
    withKey: 'journal.code',
    verify: 'journalHash',
    replay: 'journal.inputHash',
    note: 'journalHash',
    ended: 'run.journal_forged',
    journal: 'run.journal_forged',
    export: 'snapshot.damaged',
    import: 'snapshot.not_verified'
  },
  'the result of the run that has ended, with its derived records gone': {
    withKey: 'journal.code',
    verify: 'journal.response.data',
    replay: 'journal.response',
    note: 'journal.response.data',
    ended: 'run.result_forged',
    journal: 'run.result_forged',
    run: 'run.result_forged',
    export: 'snapshot.damaged',
    import: 'snapshot.not_verified'
  },
  'the status of the run that has ended, with its derived records gone': {
    withKey: 'journal.code',
    verify: 'journal.status',
    replay: 'journal.response',
    note: 'journal.status',
    ended: 'run.result_forged',
    journal: 'run.result_forged',
    run: 'run.result_forged',
    export: 'snapshot.damaged',
    import: 'snapshot.not_verified'
  },
  'what was asked before the run ended, with its derived records gone': {
    withKey: 'journal.code',
    verify: 'journalHash',
    replay: 'journal.digest',
    note: 'journalHash',
    ended: 'run.journal_forged',
    journal: 'run.journal_forged',
    export: 'snapshot.damaged',
    import: 'snapshot.not_verified'
  },
  'the changes beside receipts': {
    verify: 'nextStateRoot',
    replay: 'nextStateRoot',
    note: 'nextStateRoot',
    export: 'snapshot.damaged',
    import: 'snapshot.not_verified',
    alone: 'changes'
  }
}
