import { afterAll, afterEach } from 'vitest'
import { installVerification, verificationProblems } from './verified-close.js'

/** What holds for every test file: each ledger that a test closes is verified. */
installVerification()

// Registered before those of the file, so that they run after them.
afterEach(complain)
afterAll(complain)

function complain(): void {
  const problems = verificationProblems()
  if (problems.length > 0) throw new Error(problems.join('\n'))
}
