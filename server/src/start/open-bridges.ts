// Opens the configured bridges to external brokers.

import type { Bridges } from '../gateway/bridge/bridges.ts'
import type { BridgesDeps } from './build-bridges.ts'
import type { Joined } from './open-storage.ts'
import type { Start } from './start.ts'

/** Bridges are imported only if configured, because mqtt.js takes memory. */
export async function openBridges(
  { config, takeDown }: Start,
  deps: BridgesDeps,
  joined: Joined | undefined,
): Promise<Bridges | undefined> {
  if (config.bridges.length === 0) return undefined
  const { buildBridges } = await import('./build-bridges.ts')
  const bridges = buildBridges(deps, config.bridges, joined)
  deps.bridgeViews.local = () => bridges.views()
  bridges.start()
  takeDown.add(() => bridges.stop())
  return bridges
}
