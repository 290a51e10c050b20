import { spawn } from 'node:child_process'

const commands: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler']
}

/**
 * Opens an address in the browser of this user; false where there is no way to. The address is one
 * argument of a program, and no shell reads it.
 */
export function openBrowser(address: string): Promise<boolean> {
  const [command = 'xdg-open', ...words] = commands[process.platform] ?? []
  return new Promise((resolve) => {
    const child = spawn(command, [...words, address], { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}
