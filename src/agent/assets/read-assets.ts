import type { z } from 'zod-pinned'
import { FileRoot, limits, sha256Hex } from '../../core/index.js'
import { type AssetFiles, AssetProblem, filesBelow, namesIn, pathIn, problemText } from './files.js'
import {
  agentHeadSchema,
  headProblem,
  instructionHeadSchema,
  normalisedText,
  splitFrontmatter
} from './frontmatter.js'
import {
  type AgentAsset,
  type AssetError,
  type PromptAssetManifest,
  type PromptText,
  promptAssetsSchema
} from './manifest.js'

/**
 * Reads a directory `.agents-flow/`. The same files give the same manifest on every machine. What
 * is wrong with a file is an error of the manifest and keeps only the agents concerned from
 * running. Without `files` nothing outside the directory is read; `within` is a directory in which
 * it has to lie itself.
 */
export async function readPromptAssets(
  directory: string,
  options: { readonly files?: AssetFiles; readonly within?: string } = {}
): Promise<PromptAssetManifest> {
  const { files, within } = options
  if (files !== undefined) return new AssetReader(directory, files).read()
  const opened = await FileRoot.open(directory, within === undefined ? {} : { within })
  if (opened.ok) return new AssetReader(directory, filesBelow(opened.root, directory)).read()
  const message = problemText(opened.problem)
  const error: AssetError = { code: 'file_read_error', message, sourcePath: '.' }
  const errors = opened.problem === 'not_found' ? [] : [error]
  return { schema: promptAssetsSchema, agents: {}, instructions: {}, skills: {}, errors }
}

class AssetReader {
  readonly #directory: string
  readonly #files: AssetFiles
  readonly #errors: AssetError[] = []
  #read = 0

  constructor(directory: string, files: AssetFiles) {
    this.#directory = directory
    this.#files = files
  }

  async read(): Promise<PromptAssetManifest> {
    const names = await namesIn(this.#files, this.#directory)
    const globalFile = 'global-system-prompt.md'
    const globalSystemPrompt = names.includes(globalFile)
      ? await this.#plain(globalFile)
      : undefined
    const instructions = await this.#instructions()
    const skills = await this.#skills()
    const agents = await this.#agents()
    const manifest: PromptAssetManifest = {
      schema: promptAssetsSchema,
      ...(globalSystemPrompt === undefined ? {} : { globalSystemPrompt }),
      agents,
      instructions,
      skills,
      errors: []
    }
    const missing = Object.values(agents).flatMap((agent) => missingIncludes(agent, manifest))
    return { ...manifest, errors: [...this.#errors, ...missing] }
  }

  async #agents(): Promise<Readonly<Record<string, AgentAsset>>> {
    const found = new Map<string, AgentAsset>()
    for (const file of await this.#filesIn('agents', '.agent.md')) {
      const asset = await this.#agent(file)
      if (asset === undefined) continue
      const { agentId } = asset
      if (found.has(agentId)) {
        const message = `${agentId} is the id of two agents`
        this.#errors.push({ code: 'duplicate_agent_id', message, sourcePath: file, agentId })
      } else found.set(agentId, asset)
    }
    return Object.fromEntries(found)
  }

  async #agent(file: string): Promise<AgentAsset | undefined> {
    const parsed = await this.#headed(file, agentHeadSchema)
    if (parsed === undefined) return undefined
    const { head, text } = parsed
    return {
      ...text,
      agentId: head.agentId,
      name: head.name,
      description: head.description,
      adapterKind: head.adapterKind,
      turnMode: head.turnMode,
      tools: head.tools,
      includes: head.includes,
      ...(head['output.kind'] === undefined ? {} : { outputKind: head['output.kind'] }),
      ...(head.model === undefined ? {} : { model: head.model }),
      ...(head.temperature === undefined ? {} : { temperature: head.temperature })
    }
  }

  async #instructions(): Promise<Readonly<Record<string, PromptText>>> {
    const found = new Map<string, PromptText>()
    for (const file of await this.#filesIn('instructions', '.instructions.md')) {
      const parsed = await this.#headed(file, instructionHeadSchema)
      if (parsed === undefined) continue
      const { name } = parsed.head
      if (found.has(name)) {
        const message = `${name} is the name of two instructions`
        this.#errors.push({ code: 'duplicate_instruction_name', message, sourcePath: file })
      } else found.set(name, parsed.text)
    }
    return Object.fromEntries(found)
  }

  async #skills(): Promise<Readonly<Record<string, PromptText>>> {
    const found: [string, PromptText][] = []
    for (const folder of await namesIn(this.#files, pathIn(this.#directory, 'skills'))) {
      const inside = await namesIn(this.#files, pathIn(this.#directory, 'skills', folder))
      if (!inside.includes('SKILL.md')) continue
      const file = `skills/${folder}/SKILL.md`
      const source = await this.#source(file)
      if (source === undefined) continue
      const split = splitFrontmatter(source)
      if (split.ok) found.push([folder, promptText(file, split.body)])
      else this.#invalid(file, split.problem)
    }
    return Object.fromEntries(found)
  }

  async #filesIn(folder: string, suffix: string): Promise<readonly string[]> {
    const names = await namesIn(this.#files, pathIn(this.#directory, folder))
    return names.filter((name) => name.endsWith(suffix)).map((name) => `${folder}/${name}`)
  }

  async #headed<Head>(
    file: string,
    schema: z.ZodType<Head>
  ): Promise<{ readonly head: Head; readonly text: PromptText } | undefined> {
    const source = await this.#source(file)
    if (source === undefined) return undefined
    const split = splitFrontmatter(source)
    if (!split.ok) return this.#invalid(file, split.problem)
    const head = schema.safeParse(split.head)
    if (!head.success) return this.#invalid(file, headProblem(head.error.issues))
    return { head: head.data, text: promptText(file, split.body) }
  }

  async #plain(file: string): Promise<PromptText | undefined> {
    const source = await this.#source(file)
    return source === undefined ? undefined : promptText(file, normalisedText(source).trim())
  }

  async #source(file: string): Promise<string | undefined> {
    const path = pathIn(this.#directory, ...file.split('/'))
    this.#read += 1
    if (this.#read > limits.PROMPT_FILES_MAX) {
      return this.#unreadable(file, `there are more than ${limits.PROMPT_FILES_MAX} files`)
    }
    try {
      const bytes = (await this.#files.size?.(path)) ?? 0
      if (bytes > limits.PROMPT_FILE_BYTES_MAX) {
        return this.#unreadable(file, problemText('too_many_bytes'))
      }
      return await this.#files.readFile(path)
    } catch (error) {
      const message = error instanceof AssetProblem ? error.message : problemText('unreadable')
      return this.#unreadable(file, message)
    }
  }

  #unreadable(sourcePath: string, message: string): undefined {
    this.#errors.push({ code: 'file_read_error', message, sourcePath })
    return undefined
  }

  #invalid(sourcePath: string, message: string): undefined {
    this.#errors.push({ code: 'invalid_frontmatter', message, sourcePath })
    return undefined
  }
}

function promptText(sourcePath: string, content: string): PromptText {
  return { sourcePath, content, hash: sha256Hex(content) }
}

function missingIncludes(agent: AgentAsset, manifest: PromptAssetManifest): readonly AssetError[] {
  const missing = (what: string, name: string): AssetError => ({
    code: 'missing_include',
    message: `it includes the ${what} ${name}, which is not there`,
    sourcePath: agent.sourcePath,
    agentId: agent.agentId
  })
  const { instructions, skills } = agent.includes
  return [
    ...instructions
      .filter((name) => !Object.hasOwn(manifest.instructions, name))
      .map((name) => missing('instruction', name)),
    ...skills
      .filter((name) => !Object.hasOwn(manifest.skills, name))
      .map((name) => missing('skill', name))
  ]
}
