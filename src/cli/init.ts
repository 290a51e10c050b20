import { ledgerError } from '../core/index.js'
import { inspectLocation } from '../ledger/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { chosenPassphrase, givenPassphrase } from './frame/passphrase.js'
import { text } from './frame/text.js'

/** `tally init`: a new identity, its key and an empty ledger. */
export async function init(
  frame: Frame,
  options: { readonly insecurePlaintextKey?: boolean }
): Promise<ExitCode> {
  const { directory, output } = frame
  const found = await inspectLocation(directory)
  if (found !== undefined) throw ledgerError('ledger.exists', { path: found.realPath })
  const isPlain = options.insecurePlaintextKey === true
  const passphrase = isPlain ? undefined : (givenPassphrase(frame) ?? (await chosenPassphrase()))
  const { createRuntime, keyFilePath } = await import('../runtime/index.js')
  const runtime = await createRuntime({
    location: directory,
    create: 'if-absent',
    serve: false,
    ...(isPlain ? { insecurePlaintextKey: true } : {}),
    ...(passphrase === undefined ? {} : { passphrase })
  })
  const { identity } = runtime
  await runtime.close()
  const keyFile = keyFilePath(directory, identity)
  output.document('init', { directory, identity, keyFile, isPlaintext: isPlain })
  output.line(text`${output.paint('green', 'created')} ${directory}`)
  output.line(text`identity ${identity}`)
  output.line(text`key      ${keyFile}`)
  if (isPlain) output.log(text`the key is stored in plain text: for demonstrations only`)
  else output.log(text`keep the passphrase: without it the key cannot be used again`)
  return exitCodes.done
}
