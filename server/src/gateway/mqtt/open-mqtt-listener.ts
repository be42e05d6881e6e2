// Listens for devices that speak MQTT: on a port of its own, and over WebSocket on the port of the HTTP API.
// It is not a broker: a device talks to Jobcast, never to another device.

import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { IsTrustedProxy } from '../../limits/client-address.ts'
import type { ListenerTls } from '../certificates/listener-tls.ts'
import { buildSocketServer, buildTlsServer } from './accept-sockets.ts'
import { acceptWebSockets } from './accept-web-sockets.ts'
import { Connections } from './connections.ts'
import type { HandshakeDeps } from './handshake.ts'

export type MqttListenerDeps = HandshakeDeps

export type MqttListenerOptions = {
  host: string
  port: number
  tls: ListenerTls | undefined
  /** WebSocket upgrades on this server are ours. Stop this listener before closing it. */
  http: HttpServer
  /** Proxies whose X-Forwarded-For is trusted for WebSockets. */
  isTrustedProxy: IsTrustedProxy | undefined
}

type MqttListener = {
  /** With the actual port. */
  readonly address: string
  /** May be called twice; resolves when every connection is closed. */
  stop(): Promise<void>
}

/** Room for a fleet that reconnects at once, within the system's own limit (somaxconn). */
const backlog = 8192
const lastPacketsMs = 1000
const lastRequestsMs = 3000
const unreferenced = { ref: false }

export async function openMqttListener(
  deps: MqttListenerDeps,
  options: MqttListenerOptions,
): Promise<MqttListener> {
  const { host, port, tls, http } = options
  const connections = new Connections(deps)
  const { server, cut } = tls ? buildTlsServer(tls, connections, deps.tell) : buildSocketServer(connections)
  server.listen({ host, port, backlog })
  await once(server, 'listening')
  server.on('error', (error) => deps.tell({ kind: 'device-accept-failed', error }))
  connections.start()
  const refuseWebSockets = acceptWebSockets(http, connections, options.isTrustedProxy)

  let stopped: Promise<void> | undefined
  const stop = async () => {
    refuseWebSockets()
    const closed = new Promise((resolve) => server.close(resolve))
    const quiet = Promise.all([closed, connections.stop()])
    await Promise.race([quiet, sleep(lastPacketsMs, undefined, unreferenced)])
    connections.destroyAll()
    cut()
    await Promise.race([quiet, sleep(lastRequestsMs, undefined, unreferenced)])
  }
  return {
    address: addressOf(server, options),
    stop() {
      stopped ??= stop()
      return stopped
    },
  }
}

function addressOf(server: Server, { host, tls }: MqttListenerOptions): string {
  const { port } = server.address() as AddressInfo
  return `${tls ? 'mqtts' : 'mqtt'}://${host.includes(':') ? `[${host}]` : host}:${port}`
}
