// Starts the service step by step (start/), and stops it in reverse order.

import type { Config } from './config/config.ts'
import { allowAddresses } from './domain/webhook/allowed-address.ts'
import type { LogLevel } from './observe/log-lines.ts'
import { ensureKeys } from './start/ensure-keys.ts'
import { linkNodes } from './start/link-nodes.ts'
import { openAudit } from './start/open-audit.ts'
import { openListeners } from './start/open-listeners.ts'
import { openParts, startOffline } from './start/open-parts.ts'
import { openStorage } from './start/open-storage.ts'
import { OwnAddress } from './start/own-address.ts'
import { openStart, type StartOptions } from './start/start.ts'
import { startTasks } from './start/start-tasks.ts'
import { startWebhooks } from './start/start-webhooks.ts'
import { TakeDown } from './start/take-down.ts'
import { watchDisks } from './start/watch-disks.ts'
import { describePlace } from './store/open-store.ts'

export type RunningServer = {
  /** The address of the API, with the real port. */
  readonly http: string
  /** The address for devices, with the real port. */
  readonly mqtt: string
  /** The address of metrics and health checks. */
  readonly metrics: string | undefined
  /** Only on the first start on an empty database. */
  readonly newAdminKey: string | undefined
  setLogLevel(level: LogLevel): void
  /** Reads the files of --tls-cert and --tls-key again; undefined without TLS from files. */
  reloadCertificate: (() => Promise<void>) | undefined
  /** May be called twice; resolves when everything is closed. */
  stop(signal?: string): Promise<void>
}

export async function startServer(config: Config, options: StartOptions = {}): Promise<RunningServer> {
  const takeDown = new TakeDown()
  try {
    return await runSteps(config, options, takeDown)
  } catch (error) {
    await takeDown.run()
    throw error
  }
}

/** Resources are closed in the reverse order of opening. */
async function runSteps(config: Config, options: StartOptions, takeDown: TakeDown): Promise<RunningServer> {
  const begun = performance.now()
  const start = openStart(config, options, takeDown)
  const { tell, stopping, log } = start
  const storage = await openStorage(start)
  const disks = await watchDisks(start)
  const isAllowedAddress = allowAddresses(config.webhookAllow)
  const { signer, sealer } = await openAudit(start, storage)
  const address = new OwnAddress(config)
  const parts = await openParts(start, { storage, disks, signer, isAllowedAddress, address })
  await startOffline(parts, storage)
  const webhooks = startWebhooks(start, storage, isAllowedAddress)
  const linked = linkNodes(parts, webhooks, storage.joined)
  await linked.freezes.refresh()
  await linked.windows.refresh()
  startTasks(start, linked, { storage, disks, sealer, webhooks })
  const newAdminKey = await ensureKeys(start, linked)
  const { reloadCertificate, ...addresses } = await openListeners(start, linked, address, storage.joined)
  tell({ kind: 'started', ...addresses, data: describePlace(config), ms: performance.now() - begun })
  return {
    ...addresses,
    newAdminKey,
    setLogLevel: log.setLevel,
    reloadCertificate,
    async stop(signal = 'stop') {
      if (!stopping.signal.aborted) tell({ kind: 'stopping', signal })
      // /readyz fails first: load balancers have until the listener closes to send calls elsewhere.
      stopping.abort()
      await takeDown.run()
    },
  }
}
