// Builds all parts, hands them to each other, and takes them down in order.

import type { AddressInfo } from 'node:net'
import { setTimeout as rest } from 'node:timers/promises'
import packageJson from '../package.json' with { type: 'json' }
import { ensureAdminKey } from './admin-key.ts'
import { Background } from './background.ts'
import type { Config } from './config.ts'
import { ChangeSignal } from './domain/change-signal.ts'
import { KeyUse } from './domain/key-use.ts'
import type { Store, Trigger } from './domain/store.ts'
import { idempotencyMs } from './domain/trigger-job.ts'
import { buildApp } from './http/app.ts'
import type { App } from './http/app-type.ts'
import type { Tell } from './observe/events.ts'
import { openLog } from './observe/log-lines.ts'
import { buildMetrics, type Metrics } from './observe/metrics.ts'
import { GroupCommit } from './store/group-commit.ts'
import { openStore } from './store/open-store.ts'
import { TakeDown } from './take-down.ts'

export type RunningServer = {
  /** The address of the API, with the real port. */
  readonly http: string
  /** Only on the first start on an empty database. */
  readonly newAdminKey: string | undefined
  /** May be called twice; resolves when everything is quiet. */
  stop(signal?: string): Promise<void>
}

// 20,000 executions take about 30 ms to write; larger groups would only make small calls wait longer.
const maxGroupWeight = 20_000
// About two seconds of work. Whoever comes later is better served by a 503 than by a longer wait.
const maxWaitingWeight = 500_000
const maxWaitingItems = 10_000
// The second group is prepared and on its way while the writer thread syncs the first.
const maxInFlight = 2

const keyUseEveryMs = 30_000
const forgetEveryMs = 10 * 60_000
/** Callers that keep connections open get a last answer with `connection: close` before idle ones are cut. */
const lastAnswersMs = 500
const stopWithinMs = 8000

export async function startServer(config: Config, now: () => number = Date.now): Promise<RunningServer> {
  const takeDown = new TakeDown()
  try {
    return await start(config, now, takeDown)
  } catch (error) {
    await takeDown.run()
    throw error
  }
}

async function start(config: Config, now: () => number, takeDown: TakeDown): Promise<RunningServer> {
  const begun = performance.now()
  const log = openLog({ level: config.logLevel, json: config.jsonLog })
  takeDown.add(log.close)
  const metrics = buildMetrics()
  const tell: Tell = (event) => {
    metrics.tell(event)
    log.tell(event)
  }
  const store = openStore(config.dataFolder, (error) => {
    tell({ kind: 'storage-lost', error })
    log.close()
    process.exit(1)
  })
  takeDown.add(store.close)

  const keyUse = new KeyUse(store)
  takeDown.add(() => keyUse.record().catch((error: unknown) => tell({ kind: 'storage-unavailable', error })))
  const background = new Background(tell)
  takeDown.add(() => background.stop())
  background.every(keyUseEveryMs, 'record when keys were used', () => keyUse.record())
  background.every(forgetEveryMs, 'forget old idempotency keys', () =>
    store.forgetIdempotencyKeys(now() - idempotencyMs),
  )

  const stopping = new AbortController()
  const deps = {
    store,
    now,
    tell,
    metrics,
    keyUse,
    changes: new ChangeSignal(),
    stopping: stopping.signal,
    runningKeys: new Set<string>(),
    ...groupWrites(store, tell, metrics),
  }
  const newAdminKey = await ensureAdminKey(deps, config.dataFolder, config.adminKey)
  const app = await buildApp(deps, {
    version: packageJson.version,
    maxDevices: config.maxDevices,
    tls: config.tls,
  })
  takeDown.add(() => closeDoor(app, stopping))
  if (config.plaintextBeyondLoopback) tell({ kind: 'plaintext', host: config.host })
  await app.listen({ host: config.host, port: config.port })
  const http = addressOf(app, config)
  tell({ kind: 'started', http, dataFolder: config.dataFolder, ms: performance.now() - begun })
  return {
    http,
    newAdminKey,
    async stop(signal = 'stop') {
      if (!stopping.signal.aborted) tell({ kind: 'stopping', signal })
      await takeDown.run()
    },
  }
}

/** The writes that many callers make at once share their commits. */
function groupWrites(store: Store, tell: Tell, metrics: Metrics) {
  const limits = { maxGroupWeight, maxWaitingWeight, maxWaitingItems, maxInFlight }
  const triggers = new GroupCommit(store.createExecutions, {
    ...limits,
    weigh: (trigger: Trigger) => trigger.deviceIds.length,
    onGroup: (group) => tell({ kind: 'group-committed', of: 'triggers', ...group }),
  })
  const devices = new GroupCommit(store.putDevices, {
    ...limits,
    weigh: () => 1,
    onGroup: (group) => tell({ kind: 'group-committed', of: 'devices', ...group }),
  })
  const help = 'Trigger calls that wait for their commit'
  metrics.gauge('jobcast_triggers_waiting', help, () => triggers.waitingItems)
  return {
    recordTrigger: triggers.write.bind(triggers),
    recordDevice: devices.write.bind(devices),
  }
}

/** No new work; who waits is answered, what is under way is finished. */
async function closeDoor(app: App, stopping: AbortController): Promise<void> {
  stopping.abort()
  if (app.server.listening) await rest(lastAnswersMs)
  const cut = setTimeout(() => app.server.closeAllConnections(), stopWithinMs)
  await app.close()
  clearTimeout(cut)
}

function addressOf(app: App, { host, tls }: Config): string {
  const { port } = app.server.address() as AddressInfo
  return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`
}
