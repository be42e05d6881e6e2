// The service's own Fastify app with all its checks, answers, log lines and metrics, but with something else
// behind it: nothing at all, or another job queue.

import type { AddressInfo } from 'node:net'
import { newSecretText } from '@jobcast/server'
import type { DeviceLink } from '../server/src/domain/device-link.ts'
import { steadyInstant } from '../server/src/domain/instants.ts'
import { hashSecret } from '../server/src/domain/secret-text.ts'
import type { Store, StoredApiKey, TriggerOutcome } from '../server/src/domain/store.ts'
import { buildApp } from '../server/src/http/app.ts'
import type { Tell } from '../server/src/observe/events.ts'
import { openLog } from '../server/src/observe/log-lines.ts'
import { buildMetrics } from '../server/src/observe/metrics.ts'
import { ChangeSignal } from '../server/src/state/change-signal.ts'
import { Documents } from '../server/src/state/documents.ts'
import { FleetHistory } from '../server/src/state/fleet-history.ts'
import { HealthCheck } from '../server/src/state/health-check.ts'
import { KeyUse } from '../server/src/state/key-use.ts'
import { Presence } from '../server/src/state/presence.ts'
import { fleet, jobName } from './fleet.ts'
import { tellParent } from './server-process.ts'

/** Puts one job per device where it is kept; resolves once it is. */
export type Keep = (jobName: string, deviceIds: string[]) => Promise<unknown>

export async function serveTriggers(keep?: Keep): Promise<void> {
  const metrics = buildMetrics()
  const log = openLog({ level: 'info', json: true })
  const tell: Tell = (event) => {
    metrics.tell(event)
    log.tell(event)
  }
  const { text, id } = newSecretText('jc')
  const key = { keyId: id, ownerNo: 1, secretHash: hashSecret(text), scopes: ['TRIGGER'], ...neverEnds }
  // Triggers ask nothing else of a store.
  const store = { findApiKey: (keyId: string) => (keyId === id ? key : undefined) } as unknown as Store
  const app = await buildApp(
    {
      store,
      tell,
      metrics,
      now: Date.now,
      moment: () => ({ at: Date.now(), clock: steadyInstant(Date.now()), chance: 0, cancelDeadlineMs: 0 }),
      link: nobodyIsConnected,
      presence: new Presence({
        store: { recordPresence: async () => undefined },
        now: Date.now,
        elapsed: () => performance.now(),
      }),
      documents: new Documents(store),
      fleetHistory: new FleetHistory({ store, now: Date.now }),
      credentialChanges: { count: 0 },
      keyUse: new KeyUse({ recordKeyUse: async () => undefined }),
      changes: new ChangeSignal(),
      outputs: new ChangeSignal(),
      newEvents: new ChangeSignal<'all'>(),
      webhooks: { changed: () => undefined },
      isAllowedAddress: () => false,
      health: new HealthCheck(async () => undefined),
      stopping: new AbortController().signal,
      runningKeys: new Set(),
      recordTrigger: ({ deviceIds, launchedAt }) => recordTrigger(deviceIds, launchedAt, keep),
      recordDevice: () => Promise.reject(new Error('the fleet is given')),
    },
    { version: 'bench', maxDevices: fleet.length, tls: undefined, consoleFolder: 'none' },
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  tellParent((app.server.address() as AddressInfo).port, text)
}

const nobodyIsConnected: DeviceLink = {
  wake: () => undefined,
  launched: () => undefined,
  withdraw: () => undefined,
  disconnect: () => undefined,
}
const neverEnds: Pick<StoredApiKey, 'expiresAt' | 'revokedAt'> = { expiresAt: null, revokedAt: null }
const known = new Map(fleet.map((device) => [device.deviceId, device]))
let lastRunId = 0
let lastExecutionId = 0

async function recordTrigger(
  deviceIds: string[],
  launchedAt: number,
  keep: Keep | undefined,
): Promise<TriggerOutcome> {
  const devices: typeof fleet = []
  for (const deviceId of deviceIds) {
    const device = known.get(deviceId)
    if (device === undefined) return { kind: 'unknown-device', deviceIds: [deviceId] }
    devices.push(device)
  }
  const firstExecutionId = lastExecutionId + 1
  lastExecutionId += devices.length
  if (keep) await keep(jobName, deviceIds)
  const run = { runId: ++lastRunId, jobName, launchedAt, firstExecutionId, jobVersion: 1, devices }
  return { kind: 'created', run }
}
