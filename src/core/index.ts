/**
 * core: what every room stands on. Pure values, hashes, limits, errors, and the two seams
 * (clock, random) through which nondeterminism may enter. Imports nothing of tallystick.
 */
export type {
  ActorPath,
  Brand,
  Hash,
  IdentityId,
  PublicKey,
  RunId,
  Signature,
  StateRoot,
  UnitId,
  WaitToken
} from './brand.js'
export { isHash, isIdentityId, isPublicKey, isRunId, isSignature } from './brand.js'
export {
  afterMicrotasks,
  type Clock,
  dateAt,
  elapsedMs,
  ManualClock,
  microtasksDone,
  nextTurn,
  rfc3339,
  SteadyClock,
  systemClock,
  systemTime,
  type Timed,
  type TimeSource,
  timeText
} from './clock.js'
export { appendLeaf, CompactRange, innerNode, leafNode, rootOfPeaks } from './compact-range.js'
export {
  type Finding,
  FirstFindings,
  type HiddenFindings,
  type ReportOptions,
  reported,
  reporting
} from './document/findings.js'
export { atOnce, type Pieces } from './document/pieces.js'
export { type Locate, placesIn } from './document/places.js'
export type { Position } from './document/position.js'
export { type DocumentText, readDocument, readingDocument } from './document/read.js'
export {
  type Checked,
  checkInPieces,
  checkingSchema,
  inputJsonSchema,
  jsonSchemaReader,
  lazySchema
} from './document/schemas.js'
export {
  DocumentWork,
  inSlices,
  inTurns,
  isSliceFull,
  isWorkCounted,
  passSteps,
  payWork,
  spendWork,
  spendWorkOnce
} from './document/work.js'
export type { DocumentPath } from './document/yaml.js'
export { type Duration, durationMs } from './duration.js'
export { assert, present, unreachable } from './errors/assert.js'
export {
  agentError,
  anyError,
  auditError,
  blockError,
  capabilityError,
  checkSafeMode,
  cliError,
  coreError,
  type ErrorCode,
  type ErrorContext,
  errorCatalogue,
  errorNumber,
  executorError,
  expressionError,
  identityError,
  inspectError,
  intentError,
  isError,
  isTallyError,
  ledgerError,
  runtimeError,
  TallyError,
  testingError,
  workflowError
} from './errors/error.js'
export {
  type FileProblem,
  FileRoot
} from './files/file-root.js'
export { bytesWithin, type FileReadProblem, readRegularFile } from './files/regular-file.js'
export {
  chainJournal,
  crc32,
  hashingOwn,
  hashJson,
  hashOwn,
  isSameSecret,
  sha256,
  sha256Hex
} from './hash.js'
export type {
  Appended,
  EvidenceDraft,
  JournalItem,
  QueuePosition,
  RunEntry,
  RunTrace,
  SealedReference,
  UnitDraft
} from './journal-item.js'
export {
  canonicalize,
  canonicalizeLedgerValue,
  canonicalizeOwn,
  canonicalizeOwnLedgerValue,
  canonicalizing,
  canonicalizingLedgerValue,
  canonicalString,
  isArrayPrototype,
  isLiteralPrototype,
  type KnownTexts
} from './json/canonicalize.js'
export {
  exactJson,
  exactJsonInTurns,
  exactNumbers,
  exactNumbersInTurns,
  exactReading,
  isUnheldNumber,
  strictJsonInTurns
} from './json/exact-numbers.js'
export { anyWithin, findingLarge, isLarge, writingLength, writtenLength } from './json/length.js'
export { parse, parseInTurns, reading } from './json/parse.js'
export { withoutUndefined } from './json/plain.js'
export { CanonicalScan } from './json/scan.js'
export {
  copyJson,
  isJsonObject,
  type Json,
  type JsonArray,
  type JsonObject,
  jsonIn,
  mergePatch,
  objectOf,
  setOwn
} from './json/value.js'
export * as limits from './limits.js'
export { once } from './once.js'
export { runtimeProfile } from './profile.js'
export { type Random, systemRandom } from './random.js'
export { readSecretFile } from './secret/file.js'
export { isCredentialName, isSecretName, withoutAddresses } from './secret/names.js'
export { redactedError, redactedErrorAtOnce } from './secret/redacted-error.js'
export type { RedactedStream } from './secret/redacted-stream.js'
export { Redactor } from './secret/redactor.js'
export {
  type Environment,
  isSecretReference,
  readSecret,
  type SecretSources
} from './secret/reference.js'
export { holdsCredentials } from './secret/url-parts.js'
export { bytesOver, flatText, shownText } from './text.js'
export {
  type Exception,
  exceptionIn,
  exceptionOf,
  ignoreRejection,
  isThrown,
  plainDetails,
  plainText,
  type RefusedRun,
  refusedError,
  thrownMember
} from './thrown.js'
export {
  highestRelease,
  isRelease,
  referenceTo,
  type Versioned,
  type VersionedName,
  VersionTable,
  versionedName
} from './versions.js'
export {
  type Approvers,
  checkWait,
  type DigestedWait,
  digestOf,
  policyHashOf
} from './wait-digest.js'
export { Xorshift128 } from './xorshift128.js'
