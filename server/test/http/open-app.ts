// The app with owner and device routes on a real store but without a socket, so that a test can put a failing part into
// it.

import { type Ending, newDataFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { buildParts, type Parts } from '../../src/build-parts.ts'
import { createFirstKey } from '../../src/domain/access/api-key.ts'
import { noQuotas } from '../../src/domain/access/quotas.ts'
import { newSecretText } from '../../src/domain/access/secret-text.ts'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import { addHttpGateway } from '../../src/gateway/http/add-gateway.ts'
import type { HttpGatewayDeps } from '../../src/gateway/http/gateway-app.ts'
import { type AppDeps, buildApp } from '../../src/http/app.ts'
import type { App } from '../../src/http/app-type.ts'
import { unlimited } from '../../src/limits/rate-limits.ts'
import type { ServiceEvent } from '../../src/observe/events.ts'
import { buildMetrics } from '../../src/observe/metrics.ts'
import { openStore } from '../../src/store/open-store.ts'

export type AllDeps = AppDeps & HttpGatewayDeps
export type OpenApp = { app: App; adminKey: string; told: ServiceEvent[]; deps: AllDeps; parts: Parts }

export async function openApp(
  t: Ending,
  replaced: Partial<AllDeps> = {},
  databaseUrl?: string,
): Promise<OpenApp> {
  const place = { dataFolder: newDataFolder(), databaseUrl }
  const { store } = await openStore(place, (error) => {
    throw error
  })
  const told: ServiceEvent[] = []
  const now = Date.now
  const parts = buildParts({
    store,
    tell: (event) => told.push(event),
    metrics: buildMetrics(),
    now,
    elapsed: now,
    moment: () => ({ at: now(), clock: steadyInstant(now()), chance: 0, cancelDeadlineMs: 60_000 }),
    stopping: new AbortController().signal,
    maxOutputBytes: 1000,
    rates: unlimited,
    sessionIdleMs: 60 * 60_000,
    quotas: noQuotas,
    isRemote: false,
    isAllowedAddress: () => true,
  })
  const deps: AllDeps = {
    ...parts,
    webhooks: { changed: () => undefined, test: async () => ({ status: 204, error: null, ms: 1 }) },
    ...replaced,
  }
  const secret = newSecretText('jc')
  await createFirstKey({ store, now }, secret)
  const app = await buildApp(deps, {
    version: '0',
    maxDevices: 10,
    tls: undefined,
    isTrustedProxy: undefined,
    hasMetrics: true,
    consoleFolder: 'none',
    addRoutes: (routes) => addHttpGateway(routes, deps),
  })
  t.after(async () => {
    await app.close()
    await store.close()
  })
  removeAfter(t, place.dataFolder)
  return { app, adminKey: secret.text, told, deps, parts }
}
