import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorNumber } from '../../src/core/errors/error.js'

/** Names the folder in which all workers of one run of the tests mark what they have typed. */
const FOLDER = 'TALLY_TEST_COMMAND_FORMS'

/** Makes the folder of marks: once, before the workers begin. */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'tally-command-forms-'))
  process.env[FOLDER] = folder
  return () => rmSync(folder, { recursive: true, force: true })
}

/** Whether no worker has typed a command of this form yet; from now on one has. */
export function isFirstOfForm(form: string): boolean {
  const folder = process.env[FOLDER]
  if (folder === undefined) throw new Error('the folder of marks is made by the global setup')
  try {
    mkdirSync(join(folder, createHash('sha256').update(form).digest('hex')))
    return true
  } catch (error) {
    if (errorNumber(error) !== 'EEXIST') throw error
    return false
  }
}
