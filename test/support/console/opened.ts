import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { builtFile } from '../built.js'
import type { Project, Started } from '../project.js'
import { Browser } from './browser.js'

/** The console of a built command, with a browser that has its session. */
export interface Opened {
  readonly command: Started
  readonly browser: Browser
}

/** Starts a command that opens a console, and opens a session by its link. */
export async function openedConsole(
  project: Project,
  words: readonly string[] = ['inspect']
): Promise<Opened> {
  await placePage()
  const command = project.start(words)
  await command.says('#token=')
  const link = /http:\S+#token=[\w-]+/.exec(command.said())?.[0] ?? 'none:'
  return { command, browser: await Browser.open(link) }
}

/** A page that was built stays. */
async function placePage(): Promise<void> {
  const page = new URL('page/', `file://${builtFile('console/index.js')}`)
  const index = new URL('index.html', page)
  if (existsSync(index)) return
  await mkdir(page, { recursive: true })
  await writeFile(index, '<!doctype html><title>placeholder</title>')
}
