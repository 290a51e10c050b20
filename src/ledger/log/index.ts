/**
 * log: the RFC 6962 tree of an identity's signed records, its proofs and tiles, and the C2SP signed
 * notes that publish its root (formats.md §5). Pure values; the ledger keeps them.
 *
 * @example
 * const grown = frontier.append(leafHash(receiptText))
 * growTiles({ size: frontier.size, leaves, readTile })     // tiles to write behind
 * inclusionProof(5, grown.size, tileHashReader(readTile))
 * await signLogNote({ note: { origin, size, root, stateRoot }, publicKey, sign })
 */
export {
  addCosignature,
  type CosignatureVerdict,
  cosignatureMessage,
  verifyCosignature
} from './cosignature.js'
export { LogFrontier, leafHash, type ReadHash } from './frontier.js'
export {
  encodeLogNote,
  type LogNote,
  type NoteProblem,
  type NoteVerdict,
  noteOrigin,
  parseLogNote,
  signLogNote,
  verifyLogNote
} from './log-note.js'
export {
  type ConsistencyProof,
  encodeLogProof,
  type InclusionProof,
  type LogProof,
  parseLogProof
} from './proof-format.js'
export { consistencyProof, inclusionProof, verifyConsistency, verifyInclusion } from './proofs.js'
export {
  encodeSignedNote,
  type NoteSignature,
  parseSignedNote,
  type SignedNote,
  type VerifySignature
} from './signed-note.js'
export {
  growTiles,
  type ReadTile,
  TILE_WIDTH,
  type Tile,
  tileHashReader,
  tilePath
} from './tiles.js'
export {
  COSIGNATURE_V1_KEY,
  ED25519_KEY,
  encodeVerifierKey,
  isNoteName,
  noteKeyId,
  parseVerifierKey,
  type VerifierKey
} from './verifier-key.js'
