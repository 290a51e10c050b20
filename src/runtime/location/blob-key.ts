import { join } from 'node:path'
import type { VerificationReport } from '../../audit/index.js'
import { type IdentityId, isError, isTallyError, systemRandom } from '../../core/index.js'
import {
  type KeptPlace,
  SubjectKeyFiles,
  type SubjectKeys,
  VerificationKey
} from '../../ledger/index.js'

/**
 * The blob key of an identity, for tools that only read. Undefined where its key file is missing,
 * cannot be read or is another identity's, or is sealed and the passphrase does not open it.
 */
export async function blobKeyOf(
  realPath: string,
  identity: IdentityId,
  passphrase: string | undefined
): Promise<Uint8Array | undefined> {
  const { KeyFiles } = await import('../../identity/index.js')
  try {
    const files = new KeyFiles({ directory: join(realPath, 'keys'), identity, passphrase })
    const keys = await files.load()
    return keys.identity === identity ? keys.blobKey : undefined
  } catch (error) {
    if (isTallyError(error) || isClosed(error)) return undefined
    throw error
  }
}

/** Keys of subjects that lie beside a ledger, for tools that only read. */
export function subjectKeysOf(realPath: string, identity: IdentityId): SubjectKeys {
  return new SubjectKeyFiles(realPath, identity, systemRandom)
}

/** What a verification of a directory opens what is kept with. */
export async function keysBeside(
  realPath: string,
  identity: IdentityId,
  keyed: { readonly passphrase: string | undefined } | undefined
): Promise<{ readonly key: VerificationKey | undefined; readonly subjects: SubjectKeys }> {
  const blobKey = keyed && (await blobKeyOf(realPath, identity, keyed.passphrase))
  const key = blobKey && new VerificationKey(blobKey)
  return { key, subjects: subjectKeysOf(realPath, identity) }
}

/** A lock that was compared without the key may be another one. */
export function withLock(
  report: VerificationReport,
  kept: KeptPlace | undefined
): VerificationReport {
  if (kept === undefined || kept === null) return report
  const code = 'code of the integrity lock: it needs the key'
  return { ...report, notChecked: [...report.notChecked, code] }
}

/** The file is another user's. */
function isClosed(error: unknown): boolean {
  const { code } = isError(error) ? (error as NodeJS.ErrnoException) : {}
  return code === 'EACCES' || code === 'EPERM'
}
