/**
 * identity: Ed25519 keys, the one strict verification rule, the key store, rotation proofs.
 * The only room that signs and the only one that checks signatures (formats.md §2).
 *
 * Keys, hashes and signatures are raw bytes here (32, 32 and 64); `PublicKey` and `IdentityId` are
 * their hex. Nothing here signs bytes that a caller of tallystick supplies: the ledger signs hashes
 * of records it built itself.
 *
 * @example
 * const keys = generateIdentity()
 * await createKeyFile({ path, keys, passphrase })       // later: loadKeyFile({ path, passphrase })
 * const signer = keys.signer()                          // key decoded once
 * signer.sign(hash)                                     // inline, about 45 µs
 * const member = signer.joinPool()
 * member.put(hash)                                      // a thread signs it meanwhile
 * member.collect()                                      // 64 bytes for each that was put
 * verify(signature, hash, publicKeyBytes(keys.publicKey))
 * const threads = new VerifyingThreads()                // for many: ended by `close`
 * await threads.check(items)                            // one verdict each, in order
 */
export {
  type Approval,
  approvalMessage,
  approversOf,
  checkApproval,
  isApproval,
  type KeySignature,
  type SignedAnswer,
  signApproval
} from './approval.js'
export { generateIdentity, IdentityKeys, newKeyFor } from './identity-keys.js'
export { approvalsIn, byWith, byWithout, withApproval } from './kept-approvals.js'
export {
  begunIdentities,
  finishIdentities,
  finishIdentity,
  KeyFiles,
  type KeyLeftovers,
  keyFileIn,
  keyLeftovers,
  removeTemporary
} from './key-files.js'
export { type CreateKeyFile, createKeyFile, type LoadKeyFile, loadKeyFile } from './key-store.js'
export { getPublicKey, sign } from './keys.js'
export { type LocalSigner, localSigner } from './local-signer.js'
export { isOnCurve, isStrictPublicKey, publicKeyBytes } from './public-key.js'
export {
  type ApprovalRefusal,
  type AskedWait,
  answerProblem,
  approvalOf,
  approvalProblem,
  approvalRefusal,
  quorum,
  stricterApprovers
} from './quorum.js'
export {
  checkRotationProof,
  makeRotationProof,
  type Rotation,
  type RotationPosition,
  rotationMessage
} from './rotation.js'
export type { PoolMember, Signer, SigningKeys } from './signer.js'
export { type SignedBytes, verify, verifyMany } from './verify.js'
export { verifyWithPoints } from './verify-points.js'
export { type StartVerifier, VerifyingThreads, type VerifyingWorker } from './verifying-threads.js'
