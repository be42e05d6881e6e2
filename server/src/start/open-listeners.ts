// Opens all listeners. The API listens last: when it answers, everything else is ready.

import type { AddressInfo } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import { ListenerTls } from '../gateway/certificates/listener-tls.ts'
import { type MqttListenerOptions, openMqttListener } from '../gateway/mqtt/open-mqtt-listener.ts'
import {
  type MetricsListener,
  type MetricsListenerDeps,
  openMetricsListener,
} from '../http/connections/open-metrics-listener.ts'
import { trustProxies } from '../limits/client-address.ts'
import { reloadCertificate } from '../secrets/reload-certificate.ts'
import { CertificateWatch } from '../secrets/watch-certificate.ts'
import type { LinkedParts } from './link-nodes.ts'
import { openApi } from './open-api.ts'
import { openBridges } from './open-bridges.ts'
import type { Joined } from './open-storage.ts'
import type { OwnAddress } from './own-address.ts'
import type { Start } from './start.ts'

type MqttListener = Awaited<ReturnType<typeof openMqttListener>>

/** Addresses contain the actual ports. */
type Listeners = {
  http: string
  mqtt: string
  metrics: string | undefined
  /** Undefined unless TLS is configured with files. */
  reloadCertificate: (() => Promise<void>) | undefined
}

export async function openListeners(
  start: Start,
  parts: LinkedParts,
  address: OwnAddress,
  joined: Joined | undefined,
): Promise<Listeners> {
  const { config, elapsed, tell } = start
  const isTrustedProxy = trustProxies(config.trustedProxies)
  const tls = openTls(start, parts)
  const app = await openApi(start, parts, { address, isTrustedProxy, tls })
  tls?.serve(app.server as unknown as TlsServer)
  if (config.plaintextBeyondLoopback) tell({ kind: 'plaintext', host: config.host })
  const mqtt = await openMqtt(start, parts, { http: app.server, isTrustedProxy, tls })
  const bridges = await openBridges(start, { ...parts, elapsed }, joined)
  const metrics = await openMetrics(start, { ...parts, bridges })
  await app.listen({ host: config.host, port: config.port })
  const reload = await watchCertificate(start, tls)
  const { port } = app.server.address() as AddressInfo
  const http = address.listensAt(port)
  return { http, mqtt: mqtt.address, metrics: metrics?.address, reloadCertificate: reload }
}

function openTls({ config, tell, takeDown }: Start, parts: LinkedParts): ListenerTls | undefined {
  const { tls, deviceCa, deviceCrlFile } = config
  if (tls === undefined) return undefined
  const listenerTls = new ListenerTls({ ...tls, deviceCa, deviceCrlFile }, tell)
  takeDown.add(() => listenerTls.stop())
  // Devices that wait over HTTP sign in again.
  listenerTls.onRevoked(() => {
    parts.credentialChanges.count++
    parts.queues.notifyAllLocal()
  })
  return listenerTls
}

async function openMqtt(
  { config, takeDown }: Start,
  parts: LinkedParts,
  options: Pick<MqttListenerOptions, 'http' | 'isTrustedProxy' | 'tls'>,
): Promise<MqttListener> {
  const { host, mqttPort: port } = config
  const listener = await openMqttListener(parts, { host, port, ...options })
  takeDown.add(() => listener.stop())
  return listener
}

/** A second service on the same machine runs without this listener, unless a port is configured for it. */
async function openMetrics(
  { config, tell, takeDown }: Start,
  deps: MetricsListenerDeps,
): Promise<MetricsListener | undefined> {
  try {
    const listener = await openMetricsListener(deps, config.metrics)
    takeDown.add(() => listener?.close())
    return listener
  } catch (error) {
    if (!config.metrics.isDefaultPort || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    tell({ kind: 'metrics-listener-failed', error })
    return undefined
  }
}

async function watchCertificate(
  { config, tell, takeDown }: Start,
  tls: ListenerTls | undefined,
): Promise<Listeners['reloadCertificate']> {
  const files = config.tls?.files
  if (files === undefined || tls === undefined) return undefined
  const reload = () => reloadCertificate(files, (pair) => tls.renew(pair), tell)
  const watch = new CertificateWatch({ files, onChange: reload })
  await watch.start()
  takeDown.add(() => watch.stop())
  return reload
}
