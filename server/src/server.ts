// Builds all parts, hands them to each other, and takes them down in order.

import type { AddressInfo } from 'node:net'
import { setTimeout as rest } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import packageJson from '../package.json' with { type: 'json' }
import { ensureAdminKey } from './admin-key.ts'
import { runAmongNodes, startBackground } from './background-tasks.ts'
import type { Config } from './config.ts'
import { Dispatcher } from './dispatch/dispatcher.ts'
import { NodeLife } from './dispatch/nodes/node-life.ts'
import { shareLink, shareWebhooks } from './dispatch/nodes/share-link.ts'
import { buildClock } from './dispatch/webhooks/clock.ts'
import { EventPoster } from './dispatch/webhooks/event-poster.ts'
import { WebhookSender } from './dispatch/webhooks/webhook-sender.ts'
import { WebhookShare } from './dispatch/webhooks/webhook-share.ts'
import { allowAddresses } from './domain/allowed-address.ts'
import { isKnownKey } from './domain/api-key.ts'
import { keyOf } from './domain/device-link.ts'
import type { Moment } from './domain/execution.ts'
import type { WallInstant } from './domain/instants.ts'
import type { Nodes } from './domain/nodes.ts'
import { addDeviceDoor } from './gateway/http/device-door.ts'
import { openMqttDoor } from './gateway/mqtt/open-mqtt-door.ts'
import { groupWrites } from './group-writes.ts'
import { buildApp } from './http/app.ts'
import type { App } from './http/app-type.ts'
import type { Tell } from './observe/events.ts'
import { type LogLevel, openLog } from './observe/log-lines.ts'
import { buildMetrics } from './observe/metrics.ts'
import { ChangeSignal } from './state/change-signal.ts'
import { Deliveries } from './state/deliveries.ts'
import { Documents } from './state/documents.ts'
import { FleetHistory } from './state/fleet-history.ts'
import { HealthCheck } from './state/health-check.ts'
import { KeyUse } from './state/key-use.ts'
import { Presence } from './state/presence.ts'
import { SteadyClock } from './state/steady-clock.ts'
import { describePlace, openStore } from './store/open-store.ts'
import { TakeDown } from './take-down.ts'

export type RunningServer = {
  /** The address of the API, with the real port. */
  readonly http: string
  /** The address for devices, with the real port. */
  readonly mqtt: string
  /** Only on the first start on an empty database. */
  readonly newAdminKey: string | undefined
  setLogLevel(level: LogLevel): void
  /** May be called twice; resolves when everything is quiet. */
  stop(signal?: string): Promise<void>
}

export type StartOptions = {
  now?: () => number
  /** Milliseconds that never jump. */
  elapsed?: () => number
  /** Where the built console is, if not beside this folder. */
  consoleFolder?: string
  /** The storage ended by itself, which no good state leads to. Whoever runs the server must end the process. */
  onLost?: () => void
}

/** Callers that keep connections open get a last answer with `connection: close` before idle ones are cut. */
const lastAnswersMs = 500
const stopWithinMs = 8000
const dayMs = 24 * 60 * 60_000

const builtConsole = fileURLToPath(new URL('../../console/dist', import.meta.url))

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
  {
    now = Date.now,
    elapsed = () => performance.now(),
    consoleFolder = builtConsole,
    onLost = () => undefined,
  }: StartOptions,
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
  const { store, nodes } = await openStore(config, (error) => {
    tell({ kind: 'storage-lost', error })
    log.close()
    onLost()
  })
  takeDown.add(store.close)

  // Where there are nodes, each sees to those that are gone.
  if (nodes === undefined) await store.forgetConnections(now())
  const steady = new SteadyClock(now, elapsed)
  const share = nodes && (await joinNodes(nodes, steady, elapsed))

  const stopping = new AbortController()
  const deps = {
    store,
    now,
    tell,
    metrics,
    stopping: stopping.signal,
    moment: momentsOf(now, steady, config),
    runningKeys: new Set<string>(),
    maxOutputBytes: config.maxOutputBytes,
    keyUse: new KeyUse(store),
    changes: new ChangeSignal(),
    outputs: new ChangeSignal(),
    queues: new ChangeSignal<string>(),
    newEvents: new ChangeSignal<'all'>(),
    credentialChanges: { count: 0 },
    health: new HealthCheck(() => store.checkHealth()),
    fleetHistory: new FleetHistory({ store, now }),
    documents: new Documents(store),
    deliveries: new Deliveries(store, now),
    presence: new Presence({ store, now, elapsed }),
    ...groupWrites(store, tell, metrics, nodes !== undefined),
  }
  store.onEvents(() => deps.newEvents.tell(['all']))
  const onFailure = (error: unknown) => tell({ kind: 'dispatch-failed', error })
  const dispatcher = new Dispatcher({
    ...deps,
    clock: () => steady.now(),
    onFailure,
    onOpened: (device, since) => nodes?.tell({ kind: 'connected', device: keyOf(device), since }),
  })
  metrics.gauge(
    'jobcast_devices_connected',
    'Devices connected by MQTT or WebSocket',
    () => deps.presence.connected,
  )
  const isAllowedAddress = allowAddresses(config.webhookAllow)
  const userAgent = `Jobcast/${packageJson.version}`
  const webhooks = new WebhookSender({
    store,
    tell,
    clock: buildClock(now, elapsed),
    chance: Math.random,
    poster: new EventPoster({ isAllowedAddress, userAgent, now }),
    share,
  })
  webhooks.start()
  takeDown.add(() => webhooks.stop())
  metrics.gauge('jobcast_webhooks_failing', 'Webhooks whose receivers accept nothing', () => webhooks.failing)
  const doorDeps = {
    ...deps,
    link: nodes ? shareLink(dispatcher, nodes) : dispatcher,
    sessions: dispatcher,
    webhooks: nodes ? shareWebhooks(webhooks, nodes) : webhooks,
    isAllowedAddress,
  }
  const background = startBackground(
    {
      ...doorDeps,
      keepEventsMs: config.keepEventsDays * dayMs,
      keepExecutionsMs:
        config.keepExecutionsDays === undefined ? undefined : config.keepExecutionsDays * dayMs,
    },
    dispatcher,
  )
  if (nodes && share) {
    const life = new NodeLife({ ...deps, nodes, steady, elapsed, dispatcher, webhooks, share, onFailure })
    life.start()
    runAmongNodes(background, life)
  }
  takeDown.add(() => background.stop())

  const newAdminKey = await ensureAdminKey(deps, config.dataFolder, config.adminKey)
  if (config.adminKey && !(await isKnownKey(deps, config.adminKey))) tell({ kind: 'admin-key-unused' })
  const app = await buildApp(doorDeps, {
    version: packageJson.version,
    maxDevices: config.maxDevices,
    tls: config.tls,
    consoleFolder,
    addRoutes: (routes) => addDeviceDoor(routes, doorDeps),
  })
  takeDown.add(() => closeDoor(app, stopping))
  if (config.plaintextBeyondLoopback) tell({ kind: 'plaintext', host: config.host })
  const mqttDoor = await openMqttDoor(doorDeps, {
    host: config.host,
    port: config.mqttPort,
    tls: config.tls && { ...config.tls, deviceCa: config.deviceCa },
    http: app.server,
  })
  takeDown.add(() => mqttDoor.stop())
  await app.listen({ host: config.host, port: config.port })
  const http = addressOf(app, config)
  const mqtt = mqttDoor.address
  tell({ kind: 'started', http, mqtt, data: describePlace(config), ms: performance.now() - begun })
  return {
    http,
    mqtt,
    newAdminKey,
    setLogLevel: log.setLevel,
    async stop(signal = 'stop') {
      if (!stopping.signal.aborted) tell({ kind: 'stopping', signal })
      // First of all /readyz says so: who balances the load has until the door closes to send calls elsewhere.
      stopping.abort()
      await takeDown.run()
    },
  }
}

/** From now on the others know of this one, its clock is theirs, and it has its share of the webhooks. */
async function joinNodes(nodes: Nodes, steady: SteadyClock, elapsed: () => number): Promise<WebhookShare> {
  const share = new WebhookShare(nodes, elapsed)
  const beat = await nodes.beat(undefined)
  steady.startAt(beat.clock)
  share.setNodes(beat)
  // It is behind by as long as the answer took: the quickest of a few counts.
  for (let more = 0; more < 3; more++) steady.keepUpWith((await nodes.beat(steady.now())).clock)
  return share
}

/** Two clocks: the one on the wall may be set at any time, the other never jumps. */
function momentsOf(now: () => WallInstant, steady: SteadyClock, config: Config): () => Moment {
  const cancelDeadlineMs = config.cancelDeadlineSeconds * 1000
  return () => ({
    at: now(),
    clock: steady.now(),
    chance: Math.random(),
    cancelDeadlineMs,
  })
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
