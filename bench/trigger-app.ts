// The service's own Fastify app with all its checks, responses, log lines and metrics, but with another backend: none, or
// another job queue.

import type { AddressInfo } from 'node:net'
import { newSecretText } from '@jobcast/server'
import { buildParts } from '../server/src/build-parts.ts'
import type { StoredApiKey } from '../server/src/domain/access/ports/api-keys.ts'
import { noQuotas } from '../server/src/domain/access/quotas.ts'
import { hashSecret } from '../server/src/domain/access/secret-text.ts'
import { steadyInstant } from '../server/src/domain/common/instants.ts'
import type { Store } from '../server/src/domain/common/ports/store.ts'
import type { DeviceLink } from '../server/src/domain/device/ports/device-link.ts'
import type { Trigger, TriggerOutcome } from '../server/src/domain/trigger/trigger.ts'
import { buildApp } from '../server/src/http/app.ts'
import { unlimited } from '../server/src/limits/rate-limits.ts'
import type { Tell } from '../server/src/observe/events.ts'
import { openLog } from '../server/src/observe/log-lines.ts'
import { buildMetrics } from '../server/src/observe/metrics.ts'
import { fleet, jobName } from './fleet.ts'
import { tellParent } from './server-process.ts'

/** Stores one job per device, at most once for each Idempotency-Key if the call has one; resolves once it is durable. */
type Keep = (jobName: string, deviceIds: string[], key?: string) => Promise<unknown>

export async function serveTriggers(keep?: Keep): Promise<void> {
  const metrics = buildMetrics()
  const log = openLog({ level: 'info', json: true, requestLevel: 'info' })
  const tell: Tell = (event) => {
    metrics.tell(event)
    log.tell(event)
  }
  const { text, id } = newSecretText('jc')
  const key = { keyId: id, ownerNo: 1, secretHash: hashSecret(text), scopes: ['TRIGGER'], ...neverEnds }
  // Triggers need no other method of a store.
  const store = {
    findApiKey: ({ keyId }: { keyId: string }) => (keyId === id ? key : undefined),
    cachedApiKey: () => undefined,
    recordKeyUse: async () => undefined,
    onEvents: () => undefined,
  } as unknown as Store
  const parts = buildParts({
    store,
    tell,
    metrics,
    now: Date.now,
    elapsed: () => performance.now(),
    moment: () => ({ at: Date.now(), clock: steadyInstant(Date.now()), chance: 0, cancelDeadlineMs: 0 }),
    stopping: new AbortController().signal,
    maxOutputBytes: 0,
    rates: unlimited,
    sessionIdleMs: 60 * 60_000,
    quotas: noQuotas,
    isRemote: false,
    isAllowedAddress: () => false,
  })
  const app = await buildApp(
    {
      ...parts,
      link: nobodyIsConnected,
      webhooks: { changed: () => undefined, test: async () => ({ status: 204, error: null, ms: 0 }) },
      recordTrigger: (trigger) => recordTrigger(trigger, keep),
    },
    {
      version: 'bench',
      maxDevices: fleet.length,
      tls: undefined,
      isTrustedProxy: undefined,
      hasMetrics: false,
      consoleFolder: 'none',
    },
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  tellParent((app.server.address() as AddressInfo).port, text)
}

const nobodyIsConnected: DeviceLink = {
  wake: () => undefined,
  launched: () => undefined,
  released: () => undefined,
  withdraw: () => undefined,
  disconnect: () => undefined,
}
const neverEnds: Pick<StoredApiKey, 'expiresAt' | 'revokedAt'> = { expiresAt: null, revokedAt: null }
const known = new Map(fleet.map((device) => [device.deviceId, device]))
let lastRunId = 0
let lastExecutionId = 0

async function recordTrigger(
  { deviceIds, launchedAt, idempotency }: Trigger,
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
  if (keep) await keep(jobName, deviceIds, idempotency?.key)
  const run = { runId: ++lastRunId, jobName, launchedAt, firstExecutionId, jobVersion: 1, devices }
  return { kind: 'created', run }
}
