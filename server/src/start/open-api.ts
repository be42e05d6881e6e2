// Builds the HTTP API with everything it serves: owners, devices over HTTP, hawkBit devices, the console.

import { setTimeout as sleep } from 'node:timers/promises'
import type { ListenerTls } from '../gateway/certificates/listener-tls.ts'
import { addHttpGateway } from '../gateway/http/add-gateway.ts'
import { addDdi } from '../gateway/http/ddi/add-ddi.ts'
import { KnownDevices } from '../gateway/http/ddi/known-devices.ts'
import { buildApp } from '../http/app.ts'
import type { App } from '../http/app-type.ts'
import { addDdiDownloads } from '../http/routes/file-downloads.ts'
import type { IsTrustedProxy } from '../limits/client-address.ts'
import type { LinkedParts } from './link-nodes.ts'
import type { OwnAddress } from './own-address.ts'
import type { Start } from './start.ts'

/** Keep-alive clients get a last response with `connection: close` before idle connections are cut. */
const lastResponsesMs = 500
const stopWithinMs = 8000

type ApiOptions = {
  address: OwnAddress
  isTrustedProxy: IsTrustedProxy | undefined
  tls: ListenerTls | undefined
}

/** The returned app does not listen yet. */
export async function openApi(
  { config, version, elapsed, consoleFolder, stopping, takeDown }: Start,
  parts: LinkedParts,
  { address, isTrustedProxy, tls }: ApiOptions,
): Promise<App> {
  const app = await buildApp(parts, {
    ...{ version, isTrustedProxy, consoleFolder },
    maxDevices: config.maxDevices,
    tls: tls?.serverOptions,
    hasMetrics: config.metrics.isOnApi,
    corsOrigins: config.corsOrigins,
    addRoutes(routes) {
      addHttpGateway(routes, { ...parts, tls })
      if (config.ddiPollSeconds === undefined) return
      const ddi = {
        base: address.base,
        pollSeconds: config.ddiPollSeconds,
        known: new KnownDevices(elapsed),
      }
      addDdi(routes, { ...parts, tls, elapsed, ddi })
      addDdiDownloads(routes, parts)
    },
  })
  takeDown.add(() => closeApp(app, stopping))
  return app
}

/** Accepts no new work, answers waiting calls, finishes work in progress. */
async function closeApp(app: App, stopping: AbortController): Promise<void> {
  stopping.abort()
  if (app.server.listening) await sleep(lastResponsesMs)
  const cut = setTimeout(() => app.server.closeAllConnections(), stopWithinMs)
  await app.close()
  clearTimeout(cut)
}
