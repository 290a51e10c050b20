import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import WebSocket from 'ws'
import { fromLedger, openRecording } from '../../../src/testing/recorded/index.js'
import type { Project } from '../project.js'
import { type EffectClass, lone, registrationsOf, World } from './world.js'

/** Roads on which something is shown, or read, and nothing should be done. */
export interface Try {
  attempt(kind: EffectClass, ownersRun: string): Promise<string>
  close?(): Promise<unknown>
}

/** Blocks by the names of those of the walk: what inspects runs needs to know no more of them. */
const config = `
import { defineBlock, defineConfig } from 'tallystick'
const block = (name) => defineBlock({ name, version: '1', sideEffects: 'none', run: () => null })
export default defineConfig({ blocks: ['act', 'pay', 'ask', 'ask.signed', 'rest'].map(block) })
`
/** Until a viewer has heard of the run, or of nothing. */
const HEARD_MS = 20_000
const SILENCE_MS = 1_500

/**
 * A viewer of `tally inspect --stately`, which also sends what it wants done. Without the address
 * it guesses another.
 */
export async function viewerRoad(
  world: World,
  project: Project,
  { isInvited }: { readonly isInvited: boolean }
): Promise<Try> {
  await writeFile(project.path('walk.config.mjs'), config)
  const at = ['--dir', world.location, '--config', 'walk.config.mjs']
  const server = project.start(['inspect', '--stately', ...at])
  await server.says('ws://')
  const told = /ws:\/\/\S+/.exec(server.said())?.[0] ?? 'ws://none'
  const url = isInvited ? told : new URL('/guessed', told).href
  const attempt = async (kind: EffectClass, ownersRun: string) => {
    const heard = await messagesOf(url, isInvited ? ownersRun : undefined, [
      { type: 'intent', method: 'intent', params: { action: kind } },
      { id: 1, method: 'run', params: { id: kind, document: JSON.stringify(lone('act')) } },
      { id: 2, method: 'show', params: { id: ownersRun } }
    ])
    // Otherwise nothing would be shown by a viewer that gets nothing.
    if (heard.includes(ownersRun) !== isInvited) throw new Error(`it heard ${heard}`)
    return heard
  }
  const close = async () => {
    server.child.kill('SIGINT')
    await server.ended
  }
  return { attempt, close }
}

/** What a viewer hears until it has heard a word, and then until nothing comes. */
function messagesOf(
  url: string,
  word: string | undefined,
  says: readonly object[]
): Promise<string> {
  return new Promise((resolve) => {
    let heard = ''
    const socket = new WebSocket(url)
    const end = () => {
      socket.terminate()
      resolve(heard)
    }
    let timer = setTimeout(end, HEARD_MS)
    socket.on('open', () => {
      for (const one of says) socket.send(JSON.stringify(one))
    })
    socket.on('message', (message) => {
      heard += String(message)
      if (word === undefined || !heard.includes(word)) return
      clearTimeout(timer)
      timer = setTimeout(end, SILENCE_MS)
    })
    socket.on('error', (error) => {
      heard += error.message
      clearTimeout(timer)
      end()
    })
  })
}

/** Recordings that somebody has made, of runs that did something, and that are done again here. */
export async function recordingRoad(world: World): Promise<Try> {
  const maker = await World.open()
  await maker.grantAll()
  const files: string[] = []
  for (const block of ['act', 'pay']) {
    const { id } = maker.tally.begin(lone(block), { id: `made-${block}` })
    await (await maker.tally.attach(id)).result
    files.push(id)
  }
  files.push(await maker.ownersRun())
  const texts: string[] = []
  for (const id of files) {
    const recorded = await fromLedger(maker.location, id)
    texts.push(
      await recorded.fixture(
        registrationsOf(() => undefined),
        { private: true }
      )
    )
  }
  await maker.close()
  const attempt = async () => {
    const told: string[] = []
    for (const [place, text] of texts.entries()) {
      const file = join(world.folder, `recording-${place}.json`)
      await writeFile(file, text)
      const code = registrationsOf((effect) => world.done.push(effect))
      const { outcome, difference } = await (await openRecording(file)).replay(code)
      told.push(outcome, JSON.stringify(difference ?? null))
    }
    return told.join()
  }
  return { attempt }
}
