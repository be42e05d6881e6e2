// Builds all parts, hands them to each other, and takes them down in order.

import type { AddressInfo } from 'node:net'
import { setTimeout as rest } from 'node:timers/promises'
import packageJson from '../package.json' with { type: 'json' }
import { ensureAdminKey } from './admin-key.ts'
import { Background } from './background.ts'
import type { Config } from './config.ts'
import { isKnownKey } from './domain/api-key.ts'
import { ChangeSignal } from './domain/change-signal.ts'
import { HealthCheck } from './domain/health-check.ts'
import { KeyUse } from './domain/key-use.ts'
import type { Store, Trigger, TriggerOutcome } from './domain/store.ts'
import { idempotencyMs } from './domain/trigger-job.ts'
import { buildApp } from './http/app.ts'
import type { App } from './http/app-type.ts'
import type { Tell, WriteKind } from './observe/events.ts'
import { type LogLevel, openLog } from './observe/log-lines.ts'
import { buildMetrics, type Metrics } from './observe/metrics.ts'
import { GroupCommit } from './store/group-commit.ts'
import { openStore } from './store/open-store.ts'
import { TakeDown } from './take-down.ts'

export type RunningServer = {
  /** The address of the API, with the real port. */
  readonly http: string
  /** Only on the first start on an empty database. */
  readonly newAdminKey: string | undefined
  setLogLevel(level: LogLevel): void
  /** May be called twice; resolves when everything is quiet. */
  stop(signal?: string): Promise<void>
}

export type StartOptions = {
  now?: () => number
  /** The storage ended by itself, which no good state leads to. Whoever runs the server must end the process. */
  onLost?: () => void
}

// 20,000 executions take about 20 ms to write; larger groups would only make small calls wait longer.
const maxGroupWeight = 20_000
// About two seconds of work. Whoever comes later is better served by a 503 than by a longer wait.
const maxWaitingWeight = 500_000
const maxWaitingItems = 10_000
// One owner that floods the service leaves the other half to all others.
const maxOwnerShare = 0.5
// The second group is prepared and on its way while the writer thread syncs the first.
const maxInFlight = 2

const keyUseEveryMs = 30_000
const forgetEveryMs = 10 * 60_000
/** Callers that keep connections open get a last answer with `connection: close` before idle ones are cut. */
const lastAnswersMs = 500
const stopWithinMs = 8000

export async function startServer(config: Config, options: StartOptions = {}): Promise<RunningServer> {
  const takeDown = new TakeDown()
  try {
    return await start(config, options, takeDown)
  } catch (error) {
    await takeDown.run()
    throw error
  }
}

async function start(
  config: Config,
  { now = Date.now, onLost = () => undefined }: StartOptions,
  takeDown: TakeDown,
): Promise<RunningServer> {
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
    onLost()
  })
  takeDown.add(store.close)

  const stopping = new AbortController()
  const keyUse = new KeyUse(store)
  takeDown.add(() => keyUse.record().catch((error: unknown) => tell({ kind: 'storage-unavailable', error })))
  const background = new Background(tell)
  takeDown.add(() => background.stop())
  background.every(keyUseEveryMs, 'record when keys were used', () => keyUse.record())
  background.every(forgetEveryMs, 'forget old idempotency keys', () =>
    forgetOldKeys(store, now, stopping.signal),
  )

  const deps = {
    store,
    now,
    tell,
    metrics,
    keyUse,
    changes: new ChangeSignal(),
    health: new HealthCheck(() => store.checkHealth()),
    stopping: stopping.signal,
    runningKeys: new Set<string>(),
    ...groupWrites(store, tell, metrics),
  }
  const newAdminKey = await ensureAdminKey(deps, config.dataFolder, config.adminKey)
  if (config.adminKey && !(await isKnownKey(deps, config.adminKey))) tell({ kind: 'admin-key-unused' })
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
    setLogLevel: log.setLevel,
    async stop(signal = 'stop') {
      if (!stopping.signal.aborted) tell({ kind: 'stopping', signal })
      await takeDown.run()
    },
  }
}

/** The writes that many callers make at once share their commits. */
function groupWrites(store: Store, tell: Tell, metrics: Metrics) {
  const options = (of: WriteKind) => ({
    maxGroupWeight,
    maxWaitingWeight,
    maxWaitingItems,
    maxInFlight,
    maxOwnerShare,
    ownerOf: ({ ownerNo }: { ownerNo: number }) => ownerNo,
    onFailure: ({ items }: { items: number }) => tell({ kind: 'group-failed', of, items }),
  })
  const triggers = new GroupCommit(store.createExecutions, {
    ...options('triggers'),
    weigh: (trigger: Trigger) => trigger.deviceIds.length,
    onCommit: ({ items, outs, ms }) => {
      tell({ kind: 'group-committed', of: 'triggers', items, ms })
      tell({ kind: 'executions-created', count: countCreated(outs) })
    },
  })
  const devices = new GroupCommit(store.putDevices, {
    ...options('devices'),
    weigh: () => 1,
    onCommit: ({ items, ms }) => tell({ kind: 'group-committed', of: 'devices', items, ms }),
  })
  const help = 'Trigger calls that wait for their commit'
  metrics.gauge('jobcast_triggers_waiting', help, () => triggers.waitingItems)
  return {
    recordTrigger: triggers.write.bind(triggers),
    recordDevice: devices.write.bind(devices),
  }
}

/** In small bites: between two of them the writer gets to the triggers. */
async function forgetOldKeys(store: Store, now: () => number, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted && (await store.forgetIdempotencyKeys(now() - idempotencyMs)));
}

function countCreated(outcomes: TriggerOutcome[]): number {
  return outcomes.reduce((sum, each) => sum + (each.kind === 'created' ? each.run.devices.length : 0), 0)
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
