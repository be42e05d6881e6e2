// Every operation of the OpenAPI document has exactly one method, and each is called on a real server, whose responses are
// checked against the document.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Jobcast } from '@jobcast/client'
import { type DeviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { openForgingIssuer } from '@jobcast/testkit/forging-issuer'
import { openServer } from '@jobcast/testkit/open-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { checkAgainst, operations, watchFetch } from './support/api-answers.ts'
import { collect } from './support/open-client.ts'

type World = {
  jobcast: Jobcast
  /** The same for calls that do not count, and for another key. */
  plain: Jobcast
  as: (apiKey: string) => Jobcast
  apiKey: string
  device: DeviceCalls
  ids: {
    run: number
    execution: number
    key: string
    enrollment: string
    event: number
    ticket: string
    session: string
    token: string
  }
}
type Row = [operationId: string, method: string, call: (world: World) => Promise<unknown>]

const hook = { url: 'http://127.0.0.1:9/nobody-listens' }

/** Of a run in three waves, then of two that wait for another key. */
function rolloutRows(): Row[] {
  const waves = [{ size: 1 }, { size: '100%' }]
  const launch = async ({ plain: jobcast }: World, approval: boolean) => {
    await jobcast.jobs.put('rolled', { approval, rollout: { order: 'GIVEN', waves } })
    // The third stays held when the second is excluded: a rollout with nothing left to release cannot be changed.
    const deviceIds = ['rolled-1', 'rolled-2', 'rolled-3']
    for (const id of deviceIds) await jobcast.devices.put(id)
    return (await jobcast.trigger({ jobName: 'rolled', deviceIds })).runId
  }
  const other = async ({ plain, as }: World) =>
    as((await plain.keys.create({ keyName: 'approver', scopes: ['APPROVE', 'READ'] })).apiKey)
  let run = 0
  return [
    [
      'pauseRun',
      'runs.pause',
      async (world) => {
        run = await launch(world, false)
        return world.jobcast.runs.pause(run)
      },
    ],
    ['resumeRun', 'runs.resume', ({ jobcast }) => jobcast.runs.resume(run, { except: ['rolled-2'] })],
    ['changeRun', 'runs.change', ({ jobcast }) => jobcast.runs.change(run, { rollout: { waves } })],
    ['advanceRun', 'runs.advance', ({ jobcast }) => jobcast.runs.advance(run)],
    [
      'approveRun',
      'runs.approve',
      async (world) => (await other(world)).runs.approve(await launch(world, true), { comment: 'good' }),
    ],
    ['denyRun', 'runs.deny', async (world) => (await other(world)).runs.deny(await launch(world, true))],
  ]
}

/** Of a schedule whose job and device are made for it. */
function scheduleRows(): Row[] {
  const when = { cron: '0 3 * * *', timeZone: 'Europe/Berlin' }
  const put = async ({ jobcast, plain }: World) => {
    await plain.jobs.put('nightly')
    await plain.devices.put('owl')
    return jobcast.schedules.put('nights', { jobName: 'nightly', targets: { deviceIds: ['owl'] }, when })
  }
  return [
    ['putSchedule', 'schedules.put', put],
    ['getSchedule', 'schedules.get', ({ jobcast }) => jobcast.schedules.get('nights')],
    ['listSchedules', 'schedules.list', ({ jobcast }) => jobcast.schedules.list().page()],
    [
      'listNextOccurrences',
      'schedules.next',
      ({ jobcast }) => jobcast.schedules.next('nights', { count: 2 }),
    ],
    ['pauseSchedule', 'schedules.pause', ({ jobcast }) => jobcast.schedules.pause('nights')],
    ['resumeSchedule', 'schedules.resume', ({ jobcast }) => jobcast.schedules.resume('nights')],
    ['fireSchedule', 'schedules.fire', ({ jobcast }) => jobcast.schedules.fire('nights')],
    ['deleteSchedule', 'schedules.delete', ({ jobcast }) => jobcast.schedules.delete('nights')],
  ]
}

/** In an order in which each finds what it needs. */
const rows: Row[] = [
  ['livez', 'health.live', ({ jobcast }) => jobcast.health.live()],
  ['readyz', 'health.ready', ({ jobcast }) => jobcast.health.ready()],
  ['getOwnKey', 'keys.self', ({ jobcast }) => jobcast.keys.self()],
  ['createOwner', 'owners.create', ({ jobcast }) => jobcast.owners.create({ ownerName: 'north' })],
  ['listOwners', 'owners.list', ({ jobcast }) => jobcast.owners.list().page()],
  ['createKey', 'keys.create', makeKey],
  ['listKeys', 'keys.list', ({ jobcast }) => jobcast.keys.list().page()],
  ['revokeKey', 'keys.revoke', ({ jobcast, ids }) => jobcast.keys.revoke(ids.key)],
  ['createEnrollment', 'enrollments.create', makeEnrollment],
  ['listEnrollments', 'enrollments.list', ({ jobcast }) => jobcast.enrollments.list().page()],
  [
    'revokeEnrollment',
    'enrollments.revoke',
    ({ jobcast, ids }) => jobcast.enrollments.revoke(ids.enrollment),
  ],
  ['putWebhook', 'webhooks.put', ({ jobcast }) => jobcast.webhooks.put('tell', hook)],
  ['getWebhook', 'webhooks.get', ({ jobcast }) => jobcast.webhooks.get('tell')],
  ['listWebhooks', 'webhooks.list', ({ jobcast }) => jobcast.webhooks.list().page()],
  ['pauseWebhook', 'webhooks.pause', ({ jobcast }) => jobcast.webhooks.pause('tell')],
  ['resumeWebhook', 'webhooks.resume', ({ jobcast }) => jobcast.webhooks.resume('tell')],
  ['changeWebhookSecret', 'webhooks.rotateSecret', ({ jobcast }) => jobcast.webhooks.rotateSecret('tell')],
  ['testWebhook', 'webhooks.test', ({ jobcast }) => jobcast.webhooks.test('tell')],
  ['putJob', 'jobs.put', ({ jobcast }) => jobcast.jobs.put('restart', { document: { handler: 'restart' } })],
  ['getJob', 'jobs.get', ({ jobcast }) => jobcast.jobs.get('restart')],
  ['listJobs', 'jobs.list', ({ jobcast }) => jobcast.jobs.list().page()],
  ['listJobVersions', 'jobs.versions', ({ jobcast }) => jobcast.jobs.versions('restart').page()],
  ['getJobVersion', 'jobs.version', ({ jobcast }) => jobcast.jobs.version('restart', 1)],
  [
    'restoreJobVersion',
    'jobs.restore',
    ({ jobcast }) => jobcast.jobs.restore('restart', 1, { ifVersion: 1 }),
  ],
  ['putDevice', 'devices.put', ({ jobcast }) => jobcast.devices.put('kiosk 2 ä%', { tags: ['t'] })],
  ['patchDevice', 'devices.patch', ({ jobcast }) => jobcast.devices.patch('kiosk-1', { tags: ['p'] })],
  [
    'changeDevices',
    'devices.change',
    ({ jobcast }) => jobcast.devices.change({ where: 'tag=p', addTags: ['q'] }, { dryRun: true }),
  ],
  ['getDevice', 'devices.get', ({ jobcast }) => jobcast.devices.get('kiosk-1')],
  ['listDevices', 'devices.list', ({ jobcast }) => jobcast.devices.list({ online: false }).page()],
  ['freezeFleet', 'fleet.freeze', ({ jobcast }) => jobcast.fleet.freeze({ reason: 'a test' })],
  ['getFreeze', 'fleet.getFreeze', ({ jobcast }) => jobcast.fleet.getFreeze()],
  ['unfreezeFleet', 'fleet.unfreeze', ({ jobcast }) => jobcast.fleet.unfreeze()],
  ...rolloutRows(),
  ...scheduleRows(),
  ['countDevices', 'devices.count', ({ jobcast }) => jobcast.devices.count('tag=kiosk')],
  ['importDevices', 'devices.import', ({ jobcast }) => jobcast.devices.import([{ deviceId: 'imported' }])],
  ['putGroup', 'groups.put', ({ jobcast }) => jobcast.groups.put('all-of-them', { where: 'all' })],
  ['getGroup', 'groups.get', ({ jobcast }) => jobcast.groups.get('all-of-them')],
  ['listGroups', 'groups.list', ({ jobcast }) => jobcast.groups.list().page()],
  [
    'putWindow',
    'windows.put',
    ({ jobcast }) => jobcast.windows.put('nights', { cron: '0 2 * * *', durationMinutes: 60 }),
  ],
  ['putSecret', 'secrets.put', ({ jobcast }) => jobcast.secrets.put('TOKEN', { value: 'any value' })],
  ['getSecret', 'secrets.get', ({ jobcast }) => jobcast.secrets.get('TOKEN')],
  ['listSecrets', 'secrets.list', ({ jobcast }) => jobcast.secrets.list().page()],
  ['putFileVersion', 'files.put', ({ jobcast }) => jobcast.files.put('app', '1', new Blob(['content']))],
  ['getFileVersion', 'files.get', ({ jobcast }) => jobcast.files.get('app', '1')],
  ['listFiles', 'files.list', ({ jobcast }) => jobcast.files.list().page()],
  ['listFileVersions', 'files.versions', ({ jobcast }) => jobcast.files.versions('app').page()],
  [
    'getFileContent',
    'files.content',
    async ({ jobcast }) => {
      const chunks = await Array.fromAsync(await jobcast.files.content('app', '1', { offset: 3 }))
      assert.equal(Buffer.concat(chunks).toString(), 'tent')
    },
  ],
  ['getWindow', 'windows.get', ({ jobcast }) => jobcast.windows.get('nights')],
  ['listWindowTimes', 'windows.next', ({ jobcast }) => jobcast.windows.next('nights', { count: 2 })],
  ['listWindows', 'windows.list', ({ jobcast }) => jobcast.windows.list().page()],
  ['triggerJob', 'trigger', triggerBoth],
  ['getExecution', 'executions.get', ({ jobcast, ids }) => jobcast.executions.get(ids.execution)],
  [
    'listExecutions',
    'executions.list',
    ({ jobcast, ids }) => jobcast.executions.list({ runId: ids.run }).page(),
  ],
  [
    'getExecutionHistory',
    'executions.history',
    ({ jobcast, ids }) => jobcast.executions.history(ids.execution),
  ],
  [
    'getExecutionDocument',
    'executions.document',
    ({ jobcast, ids }) => jobcast.executions.document(ids.execution),
  ],
  ['explainExecution', 'executions.explain', ({ jobcast, ids }) => jobcast.executions.explain(ids.execution)],
  ['getExecutionOutput', 'executions.output', readOutput],
  ['cancelExecution', 'executions.cancel', ({ jobcast, ids }) => jobcast.executions.cancel(ids.execution)],
  ['getRun', 'runs.get', ({ jobcast, ids }) => jobcast.runs.get(ids.run)],
  ['getRunDocument', 'runs.document', ({ jobcast, ids }) => jobcast.runs.document(ids.run)],
  ['getRunFailures', 'runs.failures', ({ jobcast, ids }) => jobcast.runs.failures(ids.run)],
  ['getRunTimeline', 'runs.timeline', ({ jobcast, ids }) => jobcast.runs.timeline(ids.run, { buckets: 2 })],
  ['listRuns', 'runs.list', ({ jobcast }) => jobcast.runs.list({ jobName: 'restart' }).page()],
  ['cancelRun', 'runs.cancel', ({ jobcast, ids }) => jobcast.runs.cancel(ids.run, { force: true })],
  ['retryRun', 'runs.retry', ({ jobcast, ids }) => jobcast.runs.retry(ids.run)],
  ['rollBackRun', 'runs.rollback', rollBack],
  [
    'createRun',
    'runs.create',
    ({ jobcast }) => jobcast.runs.create({ jobName: 'restart', targets: { group: 'all-of-them' } }),
  ],
  ['followEvents', 'events', readEvents],
  ['listDeliveries', 'webhooks.deliveries', ({ jobcast }) => jobcast.webhooks.deliveries('tell').page()],
  [
    'replayDelivery',
    'webhooks.replayOne',
    ({ jobcast, ids }) => jobcast.webhooks.replayOne('tell', ids.event),
  ],
  [
    'replayWebhook',
    'webhooks.replaySince',
    ({ jobcast }) => jobcast.webhooks.replaySince('tell', { since: '2026-01-01T00:00:00Z' }),
  ],
  ['getFleet', 'fleet.get', ({ jobcast }) => jobcast.fleet.get()],
  ['listFleetDevices', 'fleet.devices', ({ jobcast }) => jobcast.fleet.devices({ limit: 10_000 }).page()],
  ['listBridges', 'fleet.bridges', ({ jobcast }) => jobcast.fleet.bridges({ limit: 1 }).page()],
  ['version', 'health.version', ({ jobcast }) => jobcast.health.version()],
  ['getFleetGroups', 'fleet.groups', ({ jobcast }) => jobcast.fleet.groups()],
  ['getStats', 'stats', ({ jobcast }) => jobcast.stats({ jobName: 'restart' })],
  ['createSignInTicket', 'session.createTicket', createTicket],
  ['signIn', 'session.signIn', ({ jobcast, apiKey }) => jobcast.session.signIn({ apiKey })],
  ['exchangeToken', 'session.exchange', ({ jobcast, ids }) => jobcast.session.exchange(ids.token)],
  ['checkSignInTicket', 'session.checkTicket', checkTicket],
  ['listAudit', 'audit.list', ({ jobcast }) => jobcast.audit.list({ action: 'job.*' }).page()],
  ['getAuditCheckpoint', 'audit.checkpoint', readCheckpoint],
  ['exportAudit', 'audit.export', ({ jobcast }) => collect(jobcast.audit.export())],
  ['listSessions', 'sessions.list', listSessions],
  ['endSession', 'sessions.end', ({ jobcast, ids }) => jobcast.sessions.end(ids.session)],
  ['signOut', 'session.signOut', ({ jobcast }) => jobcast.session.signOut()],
  ['deleteWebhook', 'webhooks.delete', ({ jobcast }) => jobcast.webhooks.delete('tell')],
  [
    'createDeviceCredential',
    'devices.createCredential',
    ({ jobcast }) => jobcast.devices.createCredential('kiosk-2'),
  ],
  [
    'revokeDeviceCredential',
    'devices.revokeCredential',
    ({ jobcast }) => jobcast.devices.revokeCredential('kiosk-2'),
  ],
  [
    'allowDeviceCertificate',
    'devices.allowCertificate',
    ({ jobcast }) => jobcast.devices.allowCertificate('kiosk-2'),
  ],
  ['deleteSecret', 'secrets.delete', ({ jobcast }) => jobcast.secrets.delete('TOKEN')],
  ['deleteFileVersion', 'files.delete', ({ jobcast }) => jobcast.files.delete('app', '1')],
  ['deleteWindow', 'windows.delete', ({ jobcast }) => jobcast.windows.delete('nights')],
  ['deleteGroup', 'groups.delete', ({ jobcast }) => jobcast.groups.delete('all-of-them', { force: true })],
  ['deleteDevice', 'devices.delete', ({ jobcast }) => jobcast.devices.delete('kiosk-2')],
  ['deleteJob', 'jobs.delete', ({ jobcast }) => jobcast.jobs.delete('restart', { force: true })],
]

async function makeKey({ jobcast, ids }: World): Promise<void> {
  ids.key = (await jobcast.keys.create({ keyName: 'ci', scopes: ['READ'] })).keyId
}

async function createTicket({ jobcast, ids }: World): Promise<void> {
  ids.ticket = (await jobcast.session.createTicket()).ticket
}

async function checkTicket({ jobcast, ids }: World): Promise<void> {
  assert.equal((await jobcast.session.checkTicket(ids.ticket)).ownerName, 'default')
}

/** Entries are sealed within a second. */
async function readCheckpoint({ jobcast, plain }: World): Promise<void> {
  await waitUntil('something is sealed', () =>
    plain.audit.checkpoint().then(
      () => true,
      () => false,
    ),
  )
  await jobcast.audit.checkpoint()
}

async function listSessions({ jobcast, ids }: World): Promise<void> {
  const { items } = await jobcast.sessions.list().page()
  ids.session = items[0]?.sessionId ?? ''
}

async function makeEnrollment({ jobcast, ids }: World): Promise<void> {
  ids.enrollment = (await jobcast.enrollments.create()).enrollmentId
}

async function triggerBoth({ jobcast, ids }: World): Promise<void> {
  const deviceIds = ['kiosk-1', 'kiosk-2']
  const { runId, executions } = await jobcast.trigger({ jobName: 'restart', deviceIds })
  ids.run = runId
  ids.execution = executions[0]?.jobExecutionId ?? 0
}

async function rollBack({ jobcast, plain }: World): Promise<void> {
  await plain.devices.put('back')
  for (const n of [1, 2]) await plain.jobs.put('back', { document: { n } })
  const { runId } = await plain.trigger({ jobName: 'back', deviceIds: ['back'] })
  const { rollbackOf, version } = await jobcast.runs.rollback(runId)
  assert.deepEqual([rollbackOf, version], [runId, 1])
}

async function readOutput({ jobcast, device, ids }: World): Promise<void> {
  await device.startNext()
  await device.output(ids.execution, 0, 'hello')
  const output = await jobcast.executions.output(ids.execution)
  assert.deepEqual([output.attempt, output.length, await output.text()], [1, 5, 'hello'])
}

async function readEvents({ jobcast, ids }: World): Promise<void> {
  const schema = { $ref: '#/components/schemas/Event' }
  for await (const event of jobcast.events({ after: 0 })) {
    checkAgainst(schema, event, event.type)
    ids.event = event.eventId
    if (event.type === 'run.created' && event.data.retryOf === ids.run) return
  }
}

/** All methods there are, as `runs.get`. */
function methodsOf(jobcast: Jobcast): string[] {
  const parts = Object.entries(jobcast) as [string, object][]
  const named = (whole: object) => {
    const isPlain = Object.getPrototypeOf(whole) === Object.prototype
    if (isPlain) return Object.keys(whole)
    return Object.getOwnPropertyNames(Object.getPrototypeOf(whole)).filter((name) => name !== 'constructor')
  }
  return [
    ...named(jobcast),
    ...parts.flatMap(([part, value]) => named(value).map((name) => `${part}.${name}`)),
  ]
}

test('every operation of the document has exactly one method, and every method an operation', () => {
  const described = operations.map(({ operationId }) => operationId)
  assert.deepEqual(rows.map(([operationId]) => operationId).sort(), described.sort())
  const methods = methodsOf(new Jobcast({ url: 'http://127.0.0.1', apiKey: '' }))
  // To wait is made of other calls, a plan is a run that is not created, and to start it creates the run.
  assert.deepEqual(
    rows.map(([, method]) => method).sort(),
    methods.filter((method) => !['runs.wait', 'runs.plan', 'runs.start'].includes(method)).sort(),
  )
})

test('every method calls its operation, and the responses match the document', async (t) => {
  const issuer = await openForgingIssuer(t)
  const claims = { iss: issuer.url, sub: 'ci', aud: 'jobcast', exp: Math.floor(Date.now() / 1000) + 3600 }
  const rule = { issuer: issuer.url, audience: 'jobcast', subject: 'ci', owner: 'default' }
  const oidcTrust = [{ ...rule, scopes: ['READ' as const] }]
  const server = await openServer(t, { webhookAllow: ['127.0.0.0/8'], oidcTrust })
  const device = await newDevice(server, 'kiosk-1')
  await newDevice(server, 'kiosk-2')
  const { fetch, takeCalled } = watchFetch()
  const jobcast = new Jobcast({ url: server.http, apiKey: server.adminKey, fetch })
  const plain = new Jobcast({ url: server.http, apiKey: server.adminKey })
  const as = (apiKey: string) => new Jobcast({ url: server.http, apiKey, fetch })
  const ids = {
    run: 0,
    execution: 0,
    key: '',
    enrollment: '',
    event: 0,
    ticket: '',
    session: '',
    token: await issuer.sign(claims),
  }
  for (const [operationId, method, call] of rows) {
    await t.test(`${method} calls ${operationId}`, async () => {
      takeCalled()
      await call({ jobcast, plain, as, apiKey: server.adminKey, device, ids })
      assert.deepEqual(takeCalled(), [operationId])
    })
  }
})

test('a list returns all items of all pages, or one requested page', async (t) => {
  const server = await openServer(t)
  const jobcast = new Jobcast({ url: server.http, apiKey: server.adminKey })
  const names = ['a', 'b', 'c', 'd', 'e']
  for (const name of names) await jobcast.devices.put(name)
  const list = jobcast.devices.list({ limit: 2 })
  assert.deepEqual(
    (await collect(list)).map(({ deviceId }) => deviceId),
    names,
  )
  const { items, nextCursor } = await list.page()
  assert.equal(items.length, 2)
  const next = await jobcast.devices.list({ limit: 2, cursor: nextCursor ?? '' }).page()
  assert.deepEqual(
    next.items.map(({ deviceId }) => deviceId),
    ['c', 'd'],
  )
})
