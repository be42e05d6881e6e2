// The app with both doors on a real store but without a socket, so that a test can put a failing part into it.

import type { TestContext } from 'node:test'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { Dispatcher } from '../../src/dispatch/dispatcher.ts'
import { createFirstKey } from '../../src/domain/api-key.ts'
import { steadyInstant } from '../../src/domain/instants.ts'
import { newSecretText } from '../../src/domain/secret-text.ts'
import type { Store } from '../../src/domain/store.ts'
import { addDeviceDoor } from '../../src/gateway/http/device-door.ts'
import type { DoorDeps } from '../../src/gateway/http/door-app.ts'
import { type AppDeps, buildApp } from '../../src/http/app.ts'
import type { App } from '../../src/http/app-type.ts'
import type { ServiceEvent } from '../../src/observe/events.ts'
import { buildMetrics } from '../../src/observe/metrics.ts'
import { ChangeSignal } from '../../src/state/change-signal.ts'
import { Deliveries } from '../../src/state/deliveries.ts'
import { Documents } from '../../src/state/documents.ts'
import { FleetHistory } from '../../src/state/fleet-history.ts'
import { HealthCheck } from '../../src/state/health-check.ts'
import { KeyUse } from '../../src/state/key-use.ts'
import { Presence } from '../../src/state/presence.ts'
import { openStore } from '../../src/store/open-store.ts'

export type AllDeps = AppDeps & DoorDeps
export type OpenApp = { app: App; adminKey: string; told: ServiceEvent[]; deps: AllDeps }

export async function openApp(t: TestContext, parts: Partial<AllDeps> = {}): Promise<OpenApp> {
  const place = { dataFolder: temporaryFolder(t), databaseUrl: undefined }
  const { store } = await openStore(place, (error) => {
    throw error
  })
  const told: ServiceEvent[] = []
  const deps: AllDeps = { ...buildParts(store), tell: (event) => told.push(event), ...parts }
  const secret = newSecretText('jc')
  await createFirstKey({ store, now: Date.now }, secret)
  const addRoutes = (app: App) => addDeviceDoor(app, deps)
  const app = await buildApp(deps, {
    version: '0',
    maxDevices: 10,
    tls: undefined,
    consoleFolder: 'none',
    addRoutes,
  })
  t.after(async () => {
    await app.close()
    await store.close()
  })
  return { app, adminKey: secret.text, told, deps }
}

function buildParts(store: Store): Omit<AllDeps, 'tell'> {
  const now = Date.now
  const moment = () => ({ at: now(), clock: steadyInstant(now()), chance: 0, cancelDeadlineMs: 60_000 })
  const presence = new Presence({ store, now, elapsed: now })
  const documents = new Documents(store)
  const deliveries = new Deliveries(store, now)
  const queues = new ChangeSignal<string>()
  const newEvents = new ChangeSignal<'all'>()
  store.onEvents(() => newEvents.tell(['all']))
  const link = new Dispatcher({
    store,
    documents,
    deliveries,
    presence,
    queues,
    clock: () => steadyInstant(now()),
    onFailure: (error) => {
      throw error
    },
  })
  return {
    store,
    now,
    moment,
    link,
    presence,
    documents,
    deliveries,
    queues,
    changes: new ChangeSignal(),
    outputs: new ChangeSignal(),
    newEvents,
    webhooks: { changed: () => undefined },
    isAllowedAddress: () => true,
    credentialChanges: { count: 0 },
    maxOutputBytes: 1000,
    metrics: buildMetrics(),
    fleetHistory: new FleetHistory({ store, now }),
    keyUse: new KeyUse(store),
    health: new HealthCheck(() => store.checkHealth()),
    stopping: new AbortController().signal,
    runningKeys: new Set(),
    recordTrigger: (trigger) => oneOf(store.createExecutions([trigger])),
    recordDevice: (put) => oneOf(store.putDevices([put])),
    recordReport: (report) => oneOf(store.recordReports([report])),
  }
}

async function oneOf<T>(outcomes: Promise<T[]>): Promise<T> {
  const [outcome] = await outcomes
  if (outcome === undefined) throw new Error('no outcome')
  return outcome
}
