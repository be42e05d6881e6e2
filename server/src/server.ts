// Builds all parts, connects them, and closes them in order.

import { mkdir, statfs } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Server as TlsServer } from 'node:tls'
import { fileURLToPath } from 'node:url'
import packageJson from '../package.json' with { type: 'json' }
import { keepClock, runAmongNodes, startBackground } from './background/background-tasks.ts'
import { TakeDown } from './background/take-down.ts'
import type { BridgesDeps } from './build-bridges.ts'
import { buildParts } from './build-parts.ts'
import { type Config, filesFolderIn } from './config/config.ts'
import { NodeLife } from './dispatch/nodes/node-life.ts'
import { shareLink, shareWebhooks } from './dispatch/nodes/share-link.ts'
import { buildClock } from './dispatch/webhooks/clock.ts'
import { EventPoster } from './dispatch/webhooks/event-poster.ts'
import { WebhookSender } from './dispatch/webhooks/webhook-sender.ts'
import { WebhookShare } from './dispatch/webhooks/webhook-share.ts'
import { isStoredKey } from './domain/access/api-key.ts'
import { reasonOf } from './domain/access/issuer-errors.ts'
import { findUnknownOwners } from './domain/access/unknown-owners.ts'
import type { WallInstant } from './domain/common/instants.ts'
import type { Nodes } from './domain/common/ports/nodes.ts'
import { StorageUnavailable } from './domain/common/ports/storage-errors.ts'
import type { Store } from './domain/common/ports/store.ts'
import { keyOf } from './domain/device/ports/device-link.ts'
import type { Moment } from './domain/execution/execution.ts'
import type { FileContents } from './domain/file/ports/contents.ts'
import { allowAddresses } from './domain/webhook/allowed-address.ts'
import type { Bridges } from './gateway/bridge/bridges.ts'
import { addHttpGateway } from './gateway/http/add-gateway.ts'
import { addDdi } from './gateway/http/ddi/add-ddi.ts'
import { KnownDevices } from './gateway/http/ddi/known-devices.ts'
import { ddiSilenceMs } from './gateway/http/ddi/poll-times.ts'
import { openMqttListener } from './gateway/mqtt/open-mqtt-listener.ts'
import { buildApp } from './http/app.ts'
import type { App } from './http/app-type.ts'
import {
  type MetricsListener,
  type MetricsListenerDeps,
  openMetricsListener,
} from './http/connections/open-metrics-listener.ts'
import { addDdiDownloads } from './http/routes/file-downloads.ts'
import { trustProxies } from './limits/client-address.ts'
import type { Tell } from './observe/events.ts'
import { type LogLevel, openLog } from './observe/log-lines.ts'
import { buildMetrics, type Metrics } from './observe/metrics.ts'
import { connectIssuer } from './oidc/connect-issuer.ts'
import { openAudit } from './open-audit.ts'
import { ensureAdminKey } from './secrets/admin-key.ts'
import { type KeyPair, reloadCertificate } from './secrets/reload-certificate.ts'
import { ensureSecretsKeys } from './secrets/secrets-key.ts'
import { CertificateWatch } from './secrets/watch-certificate.ts'
import { DiskSpace, type DiskUse } from './state/disk-space.ts'
import { KeptClock } from './state/kept-clock.ts'
import type { Presence } from './state/presence.ts'
import type { ExportSpan } from './state/run-traces.ts'
import { SecretBox } from './state/secret-box.ts'
import { SharedWallClock } from './state/shared-wall-clock.ts'
import { SteadyClock } from './state/steady-clock.ts'
import { ContentFolder } from './store/files/content-folder.ts'
import { describePlace, openStore } from './store/open-store.ts'

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

export type StartOptions = {
  now?: () => number
  /** Monotonic milliseconds. */
  elapsed?: () => number
  /** How full the disk with this folder is. */
  readDisk?: (folder: string) => Promise<DiskUse>
  /** Folder of the built console, if not the default one. */
  consoleFolder?: string
  /** The storage failed for good. The caller must end the process. */
  onLost?: () => void
}

/** Keep-alive clients get a last response with `connection: close` before idle connections are cut. */
const lastResponsesMs = 500
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
    now: ownNow = Date.now,
    elapsed = () => performance.now(),
    readDisk = readDiskUse,
    consoleFolder = builtConsole,
    onLost = () => undefined,
  }: StartOptions,
  takeDown: TakeDown,
): Promise<RunningServer> {
  const begun = performance.now()
  const log = openLog({
    level: config.logLevel,
    json: config.jsonLog,
    isoTime: config.logTime === 'iso',
    requestLevel: config.requestLogLevel,
  })
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

  const steady = new SteadyClock(ownNow, elapsed)
  const wall = new SharedWallClock(steady)
  const now = nodes ? wall.now : ownNow
  const keptClock = nodes ? undefined : new KeptClock({ store, steady, now })
  await keptClock?.resume()
  const joined = nodes && (await joinNodes(nodes, steady, wall, elapsed))
  const share = joined?.share

  const disk = nodes === undefined ? await watchDisk(config, readDisk, tell, metrics) : undefined
  const filesDisk = await watchFilesDisk(config, readDisk, disk)
  const stopping = new AbortController()
  const isAllowedAddress = allowAddresses(config.webhookAllow)
  const { signer, sealer } = await openAudit(config, { store, tell, metrics, now, stopping: stopping.signal })
  // Devices may ask over MQTT or a broker before the API listens; only port 0 is not known until then.
  let ownAddress = config.port === 0 ? '' : reachableAddress(config.port, config)
  const parts = buildParts({
    store,
    signer,
    secretBox: new SecretBox(ensureSecretsKeys(config)),
    tell,
    metrics,
    now,
    elapsed,
    moment: momentsOf(now, steady, config),
    stopping: stopping.signal,
    maxOutputBytes: config.maxOutputBytes,
    rates: config.rates,
    sessionIdleMs: config.sessionIdleSeconds * 1000,
    quotas: config.quotas,
    maxFileBytes: config.maxFileBytes,
    maxDownloads: config.maxDownloads,
    fileBase: () => config.publicUrl ?? ownAddress,
    ...openContents(config, { now, store, tell, disk: filesDisk }),
    disk,
    ...(await connectIssuer(config, now, (error) =>
      tell({ kind: 'issuer-failed', reason: reasonOf(error) }),
    )),
    isRemote: nodes !== undefined,
    isAllowedAddress,
    exportSpan: await openTraces(config, tell, takeDown),
    ddiSilenceMs: ddiSilenceMs(config.ddiPollSeconds),
    bridgeSilenceMs: longestSilenceMs(config),
    ...(joined && { nodeNo: joined.nodeNo }),
    onOpened: (device, since) =>
      nodes?.send({ kind: 'connected', device: keyOf(device), since, nodeNo: joined?.nodeNo ?? 0 }),
  })
  const { dispatcher, presence } = parts
  // With several nodes, each of them cleans up after dead ones.
  if (nodes === undefined) await startOffline(presence, tell)
  const userAgent = `Jobcast/${packageJson.version}`
  const webhooks = new WebhookSender({
    store,
    tell,
    clock: buildClock(now, elapsed),
    chance: Math.random,
    poster: new EventPoster({ isAllowedAddress, userAgent, now }),
    publicUrl: config.publicUrl,
    share,
  })
  webhooks.start()
  takeDown.add(() => webhooks.stop())
  metrics.gauges('jobcast_build_info', 'What is running; always 1', ['version', 'node', 'store'], () => {
    const labels = {
      version: packageJson.version,
      node: process.version,
      store: nodes ? 'postgres' : 'sqlite',
    }
    return [{ labels, value: 1 }]
  })
  metrics.gauge('jobcast_webhooks_failing', 'Webhooks whose deliveries fail', () => webhooks.failing)
  const deps = {
    ...parts,
    link: nodes ? shareLink(dispatcher, nodes) : dispatcher,
    webhooks: nodes ? shareWebhooks(webhooks, nodes) : webhooks,
  }
  parts.rollouts.link = deps.link
  parts.schedules.link = deps.link
  parts.matching.link = deps.link
  if (share) parts.matching.isOurs = (ownerNo) => share.isOurs(ownerNo)
  await parts.freezes.refresh()
  await parts.windows.refresh()
  const background = startBackground(
    {
      ...deps,
      sealer,
      ...{ disk, filesDisk },
      ownNow,
      keepEventsMs: config.keepEventsDays * dayMs,
      keepAuditMs: config.keepAuditDays * dayMs,
      keepExecutionsMs:
        config.keepExecutionsDays === undefined ? undefined : config.keepExecutionsDays * dayMs,
    },
    dispatcher,
  )
  if (nodes && share) {
    const onFailure = (error: unknown) => tell({ kind: 'dispatch-failed', error })
    const life = new NodeLife({
      ...deps,
      nodes,
      steady,
      wall,
      elapsed,
      webhooks,
      share,
      onFailure,
      onOtherHistory: () => tell({ kind: 'other-history' }),
    })
    life.start()
    runAmongNodes(background, life)
  }
  if (keptClock) keepClock(background, keptClock)
  takeDown.add(() => parts.rollouts.quiet())
  takeDown.add(() => parts.schedules.quiet())
  takeDown.add(() => background.stop())

  const newAdminKey = await ensureAdminKey(deps, config.dataFolder, config.adminKey)
  if (config.adminKey && !(await isStoredKey(deps, config.adminKey))) tell({ kind: 'admin-key-unused' })
  for (const unknown of await findUnknownOwners(deps)) tell({ kind: 'unknown-owner', ...unknown })
  const isTrustedProxy = trustProxies(config.trustedProxies)
  const app = await buildApp(deps, {
    version: packageJson.version,
    maxDevices: config.maxDevices,
    tls: config.tls,
    isTrustedProxy,
    hasMetrics: config.metrics.isOnApi,
    corsOrigins: config.corsOrigins,
    consoleFolder,
    addRoutes(routes) {
      addHttpGateway(routes, deps)
      if (config.ddiPollSeconds === undefined) return
      const base = () => config.publicUrl ?? ownAddress
      const ddi = { base, pollSeconds: config.ddiPollSeconds, known: new KnownDevices(elapsed) }
      addDdi(routes, { ...deps, elapsed, ddi })
      addDdiDownloads(routes, deps)
    },
  })
  takeDown.add(() => closeApp(app, stopping))
  if (config.plaintextBeyondLoopback) tell({ kind: 'plaintext', host: config.host })
  const mqttListener = await openMqttListener(deps, {
    host: config.host,
    port: config.mqttPort,
    tls: config.tls && {
      ...config.tls,
      deviceCa: config.deviceCa,
      deviceCrlFile: config.deviceCrlFile,
    },
    http: app.server,
    isTrustedProxy,
  })
  takeDown.add(() => mqttListener.stop())
  const bridges = await openBridges({ ...deps, elapsed }, config, nodes && joined && { nodes, ...joined })
  takeDown.add(() => bridges?.stop())
  const metricsListener = await openMetrics({ ...deps, bridges }, config)
  takeDown.add(() => metricsListener?.close())
  await app.listen({ host: config.host, port: config.port })
  const tlsFiles = config.tls?.files
  const useCertificate = (pair: KeyPair) => {
    ;(app.server as unknown as TlsServer).setSecureContext(pair)
    mqttListener.renewCertificate(pair)
  }
  const reload = tlsFiles && (() => reloadCertificate(tlsFiles, useCertificate, tell))
  if (tlsFiles && reload) {
    const watch = new CertificateWatch({ files: tlsFiles, onChange: reload })
    await watch.start()
    takeDown.add(() => watch.stop())
  }
  const { port } = app.server.address() as AddressInfo
  const http = addressOf(port, config)
  ownAddress = reachableAddress(port, config)
  const mqtt = mqttListener.address
  const data = describePlace(config)
  const ms = performance.now() - begun
  tell({ kind: 'started', http, mqtt, metrics: metricsListener?.address, data, ms })
  return {
    http,
    mqtt,
    metrics: metricsListener?.address,
    newAdminKey,
    setLogLevel: log.setLevel,
    reloadCertificate: reload,
    async stop(signal = 'stop') {
      if (!stopping.signal.aborted) tell({ kind: 'stopping', signal })
      // /readyz fails first: load balancers have until the listener closes to send calls elsewhere.
      stopping.abort()
      await takeDown.run()
    },
  }
}

/** Registers this node, adopts the shared clocks and takes its share of the webhooks. */
async function joinNodes(
  nodes: Nodes,
  steady: SteadyClock,
  wall: SharedWallClock,
  elapsed: () => number,
): Promise<{ share: WebhookShare; nodeNo: number }> {
  const share = new WebhookShare(nodes, elapsed)
  const beat = await nodes.beat(undefined)
  steady.startAt(beat.clock)
  share.setNodes(beat)
  // The reading is late by the time of the round trip: the fastest of a few counts.
  for (let more = 0; more < 3; more++) {
    const next = await nodes.beat(steady.now())
    steady.keepUpWith(next.clock)
    wall.follow(next)
  }
  return { share, nodeNo: beat.nodeNo }
}

/** Where the database is on another machine its disk is not seen. */
async function watchDisk(
  { dataFolder, minFreeDiskBytes }: Config,
  readDisk: (folder: string) => Promise<DiskUse>,
  tell: Tell,
  metrics: Metrics,
): Promise<DiskSpace | undefined> {
  if (minFreeDiskBytes === 0) return undefined
  const disk = new DiskSpace({
    minFreeBytes: minFreeDiskBytes,
    read: () => readDisk(dataFolder),
    onChange: (change) => tell({ kind: 'disk-space-changed', ...change }),
  })
  await disk.check()
  metrics.gauge('jobcast_disk_free_bytes', 'Free space of the disk with the database', () => disk.freeBytes)
  return disk
}

/** Files may be on another disk than the database. */
async function watchFilesDisk(
  { filesFolder, dataFolder, databaseUrl, minFreeDiskBytes }: Config,
  readDisk: (folder: string) => Promise<DiskUse>,
  disk: DiskSpace | undefined,
): Promise<DiskSpace | undefined> {
  if (filesFolder === undefined || minFreeDiskBytes === 0) return undefined
  if (databaseUrl === undefined && filesFolder === filesFolderIn(dataFolder)) return disk
  const filesDisk = new DiskSpace({
    minFreeBytes: minFreeDiskBytes,
    read: async () => {
      await mkdir(filesFolder, { recursive: true, mode: 0o700 })
      return readDisk(filesFolder)
    },
    onChange: () => undefined,
  })
  // As long as the disk cannot be read, uploads find out themselves.
  await filesDisk.check().catch(() => undefined)
  return filesDisk
}

type ContentsDeps = { now: () => number; store: Store; tell: Tell; disk: DiskSpace | undefined }

function openContents(
  { filesFolder: folder, databaseUrl }: Config,
  { now, store, tell, disk }: ContentsDeps,
): { contents?: FileContents } {
  if (folder === undefined) return {}
  return {
    contents: new ContentFolder({
      ...{ folder, now },
      // On PostgreSQL other nodes may share the folder.
      isShared: databaseUrl !== undefined,
      requireRoom: (bytes) => disk?.requireRoomForFile(bytes),
      // The first owner is made once, and moves with the database.
      installationId: async () => (await store.findOwnerByName({ ownerName: 'default' }))?.ownerId,
      onForeign: (folder) => tell({ kind: 'foreign-files-folder', folder }),
    }),
  }
}

/** Loaded only where traces are exported. */
async function openTraces({ otlp }: Config, tell: Tell, takeDown: TakeDown): Promise<ExportSpan | undefined> {
  if (otlp === undefined) return undefined
  const { OtlpExporter } = await import('./observe/otlp-exporter.ts')
  const exporter = new OtlpExporter({ ...otlp, version: packageJson.version, tell })
  takeDown.add(() => exporter.stop())
  return exporter.add
}

/** Loaded only where there is one: mqtt.js takes memory. */
async function openBridges(
  deps: BridgesDeps,
  { bridges: settings }: Config,
  among: { nodes: Nodes; share: WebhookShare; nodeNo: number } | undefined,
): Promise<Bridges | undefined> {
  if (settings.length === 0) return undefined
  const { buildBridges } = await import('./build-bridges.ts')
  const bridges = buildBridges(deps, settings, among)
  deps.bridgeViews.local = () => bridges.views()
  bridges.start()
  return bridges
}

/** Undefined without bridges. */
function longestSilenceMs({ bridges }: Config): number | undefined {
  return bridges.length === 0 ? undefined : Math.max(...bridges.map(({ silenceMs }) => silenceMs))
}

async function readDiskUse(folder: string): Promise<DiskUse> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}

/** On a full disk the service starts all the same, and answers reads: presence is recorded as soon as it can be. */
async function startOffline(presence: Presence, tell: Tell): Promise<void> {
  presence.startOffline()
  try {
    await presence.settle()
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) throw error
    tell({ kind: 'storage-unavailable', error })
  }
}

/** A second service on the same machine goes without, unless it was given a port of its own. */
async function openMetrics(
  deps: MetricsListenerDeps & { tell: Tell },
  { metrics }: Config,
): Promise<MetricsListener | undefined> {
  try {
    return await openMetricsListener(deps, metrics)
  } catch (error) {
    if (!metrics.isDefaultPort || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    deps.tell({ kind: 'metrics-listener-failed', error })
    return undefined
  }
}

/** Two clocks: the wall clock may be set at any time, the steady one never jumps. */
function momentsOf(now: () => WallInstant, steady: SteadyClock, config: Config): () => Moment {
  const cancelDeadlineMs = config.cancelDeadlineSeconds * 1000
  return () => ({
    at: now(),
    clock: steady.now(),
    chance: Math.random(),
    cancelDeadlineMs,
  })
}

/** Accepts no new work, answers waiting calls, finishes work in progress. */
async function closeApp(app: App, stopping: AbortController): Promise<void> {
  stopping.abort()
  if (app.server.listening) await sleep(lastResponsesMs)
  const cut = setTimeout(() => app.server.closeAllConnections(), stopWithinMs)
  await app.close()
  clearTimeout(cut)
}

function addressOf(port: number, { host, tls }: Pick<Config, 'host' | 'tls'>): string {
  return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** For URLs of files: nobody can connect to an address that stands for all of them. */
function reachableAddress(port: number, config: Config): string {
  const isAny = config.host === '0.0.0.0' || config.host === '::'
  return addressOf(port, isAny ? { ...config, host: hostname() } : config)
}
