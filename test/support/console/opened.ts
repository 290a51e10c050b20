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
  const command = project.start(words)
  await command.says('#token=')
  const link = /http:\S+#token=[\w-]+/.exec(command.said())?.[0] ?? 'none:'
  return { command, browser: await Browser.open(link) }
}
