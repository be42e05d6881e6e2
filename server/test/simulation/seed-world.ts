// The initial state of a simulation: two owners with jobs, devices and keys of the same names, and the resources for their
// features.

import type { Random } from '@jobcast/testkit/seeded-random'
import { hashSecret, newSecretText } from '../../src/domain/access/secret-text.ts'
import type { StoredJobContent } from '../../src/domain/job/ports/jobs.ts'
import { putSchedule } from '../../src/domain/schedule/schedule.ts'
import { putWindow } from '../../src/domain/window/window.ts'
import { emptyContent } from '../store/store-under-test.ts'
import type { SimulatedNode } from './simulated-node.ts'
import type { CallerKey } from './tenant.ts'
import { pickFeatures, Tenant, tenantScopes } from './tenant.ts'
import { startedAt } from './virtual-time.ts'

type Content = Partial<StoredJobContent>

export const jobs: Record<string, Content> = {
  plain: {},
  retried: { timeoutSeconds: 2, retry: { max: 2, backoffSeconds: 1, on: ['FAILED', 'TIMED_OUT'] } },
  limited: { expireAfterSeconds: 6, deadlineSeconds: 15, timeoutSeconds: 4 },
}

export const secretJob = 'secret'
const secretContent: Content = {
  hasPlaceholders: true,
  document: { word: '$' + '{params.word}' },
  parameters: {
    type: 'object',
    properties: { word: { type: 'string', writeOnly: true } },
    required: ['word'],
  },
}

/** Minutes begin three seconds after a simulation does: one opens then, the other closes and opens a minute later. */
export const windows = {
  opens: { cron: '0-58/2 * * * *', durationMinutes: 1, timeZone: 'UTC' },
  closes: { cron: '1-59/2 * * * *', durationMinutes: 1, timeZone: 'UTC' },
}

export const schedules = {
  minutely: { jobName: 'plain', targets: { where: 'all' }, when: { cron: '* * * * *' }, overlap: 'QUEUE' },
  once: {
    jobName: 'retried',
    targets: { where: 'all' },
    when: { at: new Date(startedAt + 4000).toISOString() },
    overlap: 'QUEUE',
  },
  each: { jobName: 'plain', targets: { where: 'all' }, when: { match: true } },
} as const

export async function seedWorld(node: SimulatedNode, random: Random): Promise<Tenant[]> {
  const first = await seedTenant(node, random, 'default', 2 + random.below(3))
  const second = await seedTenant(node, random, 'other', 1 + random.below(2))
  return [first, second]
}

async function seedTenant(
  node: SimulatedNode,
  random: Random,
  name: string,
  devices: number,
): Promise<Tenant> {
  const { store } = node.parts
  const at = startedAt
  const owner = await store.createOwner({ ownerId: `ow_${name}`, ownerName: name, createdAt: at })
  if (owner === 'name-taken') throw new Error('the owner exists')
  const { ownerNo, ownerId } = owner
  const deviceIds = Array.from({ length: devices }, (_, index) => `d${index}`)
  for (const [jobName, content] of Object.entries({ ...jobs, [secretJob]: secretContent })) {
    await store.putJob({ ownerNo, jobName, content: { ...emptyContent, ...content }, at })
  }
  await store.putDevices(deviceIds.map((deviceId) => ({ ownerNo, deviceId, deviceName: '', tags: [], at })))
  const keys: CallerKey[] = []
  for (const keyName of ['one', 'two', 'revoked'])
    keys.push(await newKey(node, { ownerNo, ownerId }, keyName))
  const tenant = new Tenant({ ownerNo, name, keys, deviceIds, features: pickFeatures(random) })
  await seedFeatures(node, tenant)
  return tenant
}

async function newKey(
  { parts: { store } }: SimulatedNode,
  { ownerNo, ownerId }: { ownerNo: number; ownerId: string },
  keyName: string,
): Promise<CallerKey> {
  const secret = newSecretText('jc')
  await store.createApiKey({
    keyId: secret.id,
    ownerNo,
    keyName,
    secretHash: hashSecret(secret.text),
    scopes: tenantScopes,
    expiresAt: null,
    createdAt: startedAt,
    createdBy: null,
    createdBySession: null,
  })
  return { apiKey: secret.text, caller: { keyId: secret.id, ownerNo, ownerId, scopes: tenantScopes } }
}

async function seedFeatures({ parts }: SimulatedNode, tenant: Tenant): Promise<void> {
  const { ownerNo, features, keys } = tenant
  const [{ caller }] = keys as [CallerKey]
  if (features.windows) {
    for (const [name, content] of Object.entries(windows)) await putWindow(parts, caller, name, content)
  }
  if (features.schedules) {
    for (const [name, content] of Object.entries(schedules)) await putSchedule(parts, caller, name, content)
  }
  if (!features.webhook) return
  const put = await parts.store.putWebhook({
    ...{ ownerNo, webhookName: 'receiver', at: startedAt },
    content: {
      ...{ url: `http://receiver/${tenant.name}`, eventTypes: [], jobName: null, deviceId: null },
      format: 'jobcast',
    },
    maker: { createdBy: 'operator', createdBySession: null },
    ...{ secret: undefined, newSecret: 'whsec_c2ltdWxhdGVkIHNlY3JldCBvZiAzMiBieXRlcw==' },
    ...{ oldSecretUntil: startedAt, maxWebhooks: 10, restriction: null, mayCreate: true },
  })
  if (typeof put === 'string') throw new Error(put)
  parts.webhooks.changed(put.value.webhookNo)
  const { newest } = await parts.store.getEventBounds({ ownerNo })
  tenant.webhookAfter = newest
}
