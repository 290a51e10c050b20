/**
 * state: the authenticated state tree of an identity, its proofs, its pages, and the state roots
 * (formats.md §4). Pure values; the ledger keeps them.
 *
 * @example
 * const tree = StateTree.empty.set(hashKey('balance'), hashValue('"10"'))
 * tree.root()                                             // storage root, hex
 * const proof = proveMembership(tree, 'balance')
 * verifyMembership({ proof, root: tree.root(), key: 'balance', valueText: '"10"' })
 * changedPages(before, after).map((page) => encodePage(after, page))   // to write behind
 */
export { buildStateTree, StateTreeBuilder } from './builder.js'
export {
  type Ics23CommitmentProof,
  type Ics23ExistenceProof,
  type Ics23InnerStep,
  toIcs23,
  type ValueTextOf
} from './ics23.js'
export {
  addPage,
  changedPages,
  decodePages,
  encodePage,
  pageOf,
  STATE_PAGE_BITS,
  STATE_PAGE_COUNT
} from './pages.js'
export {
  type AbsenceProof,
  type LeafProof,
  type MembershipProof,
  proveAbsence,
  proveMembership,
  type Sibling,
  type StateProof
} from './proof.js'
export { encodeStateProof, parseStateProof } from './proof-format.js'
export {
  CAPABILITY_VERSION,
  hashInstalledDApps,
  type InstalledDApp,
  rootOf,
  STATE_ROOT_VERSION,
  type StateRootParts,
  stateRoot
} from './root.js'
export { emptyStorageRoot, hashKey, hashValue, StateTree } from './tree.js'
export { verifyAbsence, verifyMembership } from './verify.js'
