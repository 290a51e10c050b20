import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

/** A local EVM chain, alone on this machine's loopback. */
export interface Anvil extends AsyncDisposable {
  readonly url: string
  readonly chainId: number
  /** Sends the process a signal; `SIGSTOP` makes it hang. */
  signal(name: NodeJS.Signals): void
  stop(): Promise<void>
}

export interface AnvilOptions {
  readonly chainId?: number
  /** More command-line arguments: `--no-mining`, `--block-time 1`. */
  readonly arguments?: readonly string[]
}

/**
 * The first accounts that every anvil has: everybody knows their keys, so they are only good here.
 */
export const anvilKeys = [
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a'
] as const

/** Starts anvil on a free port; resolves when it answers. */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const { chainId = 31_337, arguments: more = [] } = options
  const given = ['--host', '127.0.0.1', '--port', '0', '--chain-id', String(chainId), ...more]
  const child = spawn(anvilPath(), given, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
  }
  // Anvil must not outlive its parent.
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  void ended.then(() => process.off('exit', kill))
  const url = await new Promise<string>((resolve, reject) => {
    child.once('error', reject)
    void ended.then(() => reject(new Error('anvil ended before it listened')))
    createInterface(child.stdout).on('line', (line) => {
      const found = /Listening on (127\.0\.0\.1:\d+)/.exec(line)
      if (found !== null) resolve(`http://${found[1]}`)
    })
  })
  return {
    url,
    chainId,
    signal: (name) => void child.kill(name),
    stop,
    [Symbol.asyncDispose]: stop
  }
}

/** The binary itself: the script of the package would be one more process to end. */
function anvilPath(): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const platform = `@foundry-rs/anvil-${process.platform}-${architecture}`
  const require = createRequire(
    createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json')
  )
  return require.resolve(`${platform}/bin/anvil`)
}
