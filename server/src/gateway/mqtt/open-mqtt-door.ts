// The door for devices that speak MQTT: on a port of its own, and as WebSockets on the port of the HTTP API.
// A door, not a broker: a device talks with Jobcast, never with another device.

import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { setTimeout as rest } from 'node:timers/promises'
import { buildSocketServer, buildTlsServer, type TlsOptions } from './accept-sockets.ts'
import { acceptWebSockets } from './accept-web-sockets.ts'
import { Connections } from './connections.ts'
import type { HandshakeDeps } from './handshake.ts'

export type MqttDoorDeps = HandshakeDeps

export type MqttDoorOptions = {
  host: string
  port: number
  tls: TlsOptions | undefined
  /** Its upgrades are ours. It cannot be closed before this door is stopped. */
  http: HttpServer
}

export type MqttDoor = {
  /** With the real port. */
  readonly address: string
  /** May be called twice; resolves when every connection is closed. */
  stop(): Promise<void>
}

/** Devices that come back all at once wait here, where the system's own limit (somaxconn) lets them. */
const backlog = 8192
const lastWordsMs = 1000
const lastRequestsMs = 3000
const unwatched = { ref: false }

export async function openMqttDoor(deps: MqttDoorDeps, options: MqttDoorOptions): Promise<MqttDoor> {
  const { host, port, tls, http } = options
  const connections = new Connections(deps)
  const { server, cut } = tls ? buildTlsServer(tls, connections, deps.tell) : buildSocketServer(connections)
  server.listen({ host, port, backlog })
  await once(server, 'listening')
  server.on('error', (error) => deps.tell({ kind: 'device-accept-failed', error }))
  connections.start()
  const refuseWebSockets = acceptWebSockets(http, connections)

  let stopped: Promise<void> | undefined
  const stop = async () => {
    refuseWebSockets()
    const closed = new Promise((resolve) => server.close(resolve))
    const quiet = Promise.all([closed, connections.stop()])
    await Promise.race([quiet, rest(lastWordsMs, undefined, unwatched)])
    connections.destroyAll()
    cut()
    await Promise.race([quiet, rest(lastRequestsMs, undefined, unwatched)])
  }
  return {
    address: addressOf(server, options),
    stop() {
      stopped ??= stop()
      return stopped
    },
  }
}

function addressOf(server: Server, { host, tls }: MqttDoorOptions): string {
  const { port } = server.address() as AddressInfo
  return `${tls ? 'mqtts' : 'mqtt'}://${host.includes(':') ? `[${host}]` : host}:${port}`
}
