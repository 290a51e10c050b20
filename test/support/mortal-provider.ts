import type { Provider } from '../../src/block/index.js'
import type { World } from './lives.js'

const never = new Promise<never>(() => undefined)

/** A provider in a process that may die on both sides of everything that is asked of it. */
export function mortalProvider(
  provider: Provider,
  world: World,
  asked: () => void = () => undefined
): Provider {
  const around = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (!world.life.passes()) return never
    asked()
    const result = await work()
    return world.life.passes() ? result : never
  }
  const { locate } = provider
  return {
    ...provider,
    perform: (call) => around(async () => provider.perform(call)),
    ...(locate === undefined
      ? {}
      : { locate: (call) => around(async () => locate.call(provider, call)) })
  }
}
