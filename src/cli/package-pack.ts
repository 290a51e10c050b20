import { resolve } from 'node:path'
import { declaredCapabilities, encodePackage, packDirectory } from '../capability/index.js'
import { writeOutput } from './frame/files.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { refusalLines } from './frame/refusals.js'
import { text } from './frame/text.js'

/**
 * `tally package pack DIRECTORY`: bundles a package into the one module that would run, and tells
 * its code hash. Nothing of the package is executed.
 */
export async function packPackage(
  frame: Frame,
  directory: string,
  options: { readonly output?: string }
): Promise<ExitCode> {
  const { output } = frame
  const packed = await packDirectory(resolve(frame.cwd, directory))
  if (!packed.ok) {
    output.document('package.refused', { directory, refusals: packed.refusals })
    for (const line of refusalLines(output.paint, directory, packed.refusals)) output.line(line)
    return exitCodes.usage
  }
  const { manifest, bundle, codeHash } = packed.package
  const bytes = Buffer.byteLength(bundle)
  const file = options.output
  if (file !== undefined) {
    await writeOutput(frame, file, { content: encodePackage(packed.package), isNew: false })
  }
  const { id, version, intents } = manifest
  const capabilities = declaredCapabilities(manifest)
  const packedFile = file ?? null
  output.document('package', { id, version, codeHash, bytes, intents, capabilities, packedFile })
  output.line(text`${output.paint('bold', id)} ${version}, ${bytes} bytes`)
  output.line(text`code hash ${codeHash}`)
  output.line(text`serves ${intents.join(', ')}`)
  output.line(text`asks for ${capabilities.length === 0 ? 'nothing' : capabilities.join(', ')}`)
  if (file !== undefined) output.log(text`wrote ${file}`)
  return exitCodes.done
}
