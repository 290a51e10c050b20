import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  agentError,
  isJsonObject,
  type Json,
  type JsonObject,
  readDocument
} from '../../core/index.js'
import { readPromptAssets } from '../assets/read-assets.js'
import { isFlowDocument } from './parse.js'

/** Directory of prompt assets beside a flow's file. */
export const PROMPT_ASSETS_DIRECTORY = '.agents-flow'

/**
 * Reads a flow's file, with the prompt assets of the directory `.agents-flow` beside it, as one
 * document that runs anywhere. Throws `document.malformed`, and `agent.not_a_flow` for anything
 * else than a flow.
 */
export async function readFlow(path: string): Promise<JsonObject> {
  const document = await withPromptAssets(readDocument(await readFile(path, 'utf8')), dirname(path))
  if (isJsonObject(document) && isFlowDocument(document)) return document
  throw agentError('agent.not_a_flow', { path })
}

/** A flow with the prompt assets of a directory; other documents, and flows with assets, as is. */
export async function withPromptAssets(document: Json, directory: string): Promise<Json> {
  if (!isJsonObject(document) || !isFlowDocument(document)) return document
  const extensions = isJsonObject(document['extensions']) ? document['extensions'] : {}
  const path = join(directory, PROMPT_ASSETS_DIRECTORY)
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory() !== true || 'promptAssets' in extensions) return document
  // A manifest is plain JSON by construction; its type only names the members.
  const promptAssets = (await readPromptAssets(path, { within: directory })) as unknown as Json
  return { ...document, extensions: { ...extensions, promptAssets } }
}
