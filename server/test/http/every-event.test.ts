// Every type of the map of events is emitted, on both stores, with the data of its noun.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { eventData, eventTypes, type JobcastEvent, nounOf } from '@jobcast/contract'
import { type DeviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { EventListener } from '@jobcast/testkit/event-listener'
import { type OpenServer, openServer, type ServerOptions } from '@jobcast/testkit/open-server'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { buildClock } from '@jobcast/testkit/shared-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { longTest } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { Value } from 'typebox/value'
import { subjectOf } from '../../src/domain/event/event.ts'

const dayMs = 24 * 60 * 60_000

/** What makes them, and what they wait for. */
class Scene {
  readonly #api: OpenServer
  readonly #listener: EventListener

  constructor(api: OpenServer, listener: EventListener) {
    this.#api = api
    this.#listener = listener
  }

  async call(method: string, path: string, body?: unknown, key = this.#api.adminKey) {
    const given = body === undefined ? {} : { body }
    const reply = await this.#api.call(method, `/job/api${path}`, { ...given, key })
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`)
    return reply
  }

  /** A run of a job of its own. */
  async launch(jobName: string, content: object, deviceIds: string[]) {
    await this.call('PUT', `/jobs/${jobName}`, content)
    const reply = await this.#api.trigger(jobName, deviceIds)
    assert.equal(reply.status, 201, reply.text)
    const ids: number[] = reply.json.map((each: { jobExecutionId: number }) => each.jobExecutionId)
    return { path: (reply.headers.get('location') ?? '').replace('/job/api', ''), ids }
  }

  async seen(type: JobcastEvent['type']): Promise<void> {
    const { events } = this.#listener
    const isSeen = () => events.some((event) => event.type === type)
    await waitUntil(`${type} is emitted`, isSeen, { timeoutMs: 60_000 })
  }
}

async function report(device: DeviceCalls, id: number | undefined, status: string, more = {}): Promise<void> {
  const reply = await device.update(id as number, status, more)
  assert.equal(reply.status, 200, reply.text)
}

async function carryOut(scene: Scene, api: OpenServer): Promise<void> {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  const devices = await Promise.all(ids.map((id) => newDevice(api, id)))
  const [a, b, c, d] = devices as [DeviceCalls, DeviceCalls, DeviceCalls, DeviceCalls]
  const retry = { max: 1, backoffSeconds: 3600 }
  const [late] = (await scene.launch('late', { timeoutSeconds: 1 }, ['g'])).ids
  await scene.launch('unseen', { expireAfterSeconds: 1 }, ['h'])
  await report(devices[6] as DeviceCalls, late, 'IN_PROGRESS')
  const plain = await scene.launch('plain', {}, ['a', 'b', 'c', 'd'])
  await report(a, plain.ids[0], 'IN_PROGRESS')
  await report(a, plain.ids[0], 'IN_PROGRESS', { statusDetails: { progress: '50' } })
  await report(a, plain.ids[0], 'SUCCEEDED')
  await report(b, plain.ids[1], 'FAILED')
  await report(c, plain.ids[2], 'REJECTED')
  await report(d, plain.ids[3], 'IN_PROGRESS')
  await scene.call('POST', `/executions/${plain.ids[3]}/cancel`, {})
  await scene.call('POST', `/executions/${plain.ids[3]}/cancel`, { force: true })
  const [again] = (await scene.launch('again', { retry }, ['a'])).ids
  await report(a, again, 'FAILED')
}

async function rollOut(scene: Scene, api: OpenServer): Promise<void> {
  const approver = (await api.newKey(['APPROVE', 'READ'])).apiKey
  const waves = { waves: [{ size: 1 }, { size: '100%' }] }
  const rolled = await scene.launch('rolled', { rollout: waves }, ['e', 'f'])
  await scene.call('POST', `${rolled.path}/pause`)
  await scene.call('PATCH', rolled.path, { rollout: { ...waves, ratePerMinute: 60 } })
  await scene.call('POST', `${rolled.path}/resume`)
  await scene.call('POST', `${rolled.path}/cancel`, {})
  for (const verb of ['approve', 'deny']) {
    const { path } = await scene.launch(`to-${verb}`, { approval: true }, ['e'])
    await scene.call('POST', `${path}/${verb}`, {}, approver)
  }
}

async function changeResources(scene: Scene): Promise<void> {
  await scene.call('PUT', '/groups/kiosks', { where: 'tag=kiosk' })
  await scene.call('DELETE', '/groups/kiosks')
  await scene.call('PUT', '/windows/nights', { cron: '0 2 * * *', durationMinutes: 60 })
  await scene.call('DELETE', '/windows/nights')
  await scene.call('PUT', '/secrets/TOKEN', { value: 'of every event' })
  await scene.call('DELETE', '/secrets/TOKEN')
  await scene.call('PUT', '/files/app/1', { any: 'content' })
  await scene.call('DELETE', '/files/app/1')
  const nightly = { jobName: 'plain', targets: { deviceIds: ['a'] }, when: { cron: '0 3 * * *' } }
  await scene.call('PUT', '/schedules/nightly', nightly)
  await scene.call('POST', '/schedules/nightly/fire')
  await scene.seen('schedule.fired')
  for (const verb of ['pause', 'resume']) await scene.call('POST', `/schedules/nightly/${verb}`)
  await scene.call('PUT', '/schedules/short-lived', nightly)
  await scene.call('DELETE', '/schedules/short-lived')
  await scene.call('DELETE', '/jobs/again?force=true')
  await scene.call('POST', '/fleet/freeze', { reason: 'a test' })
  await scene.call('DELETE', '/fleet/freeze')
  await scene.call('PUT', '/devices/b', { deviceName: 'B' })
  await scene.call('DELETE', '/devices/b/credential')
  await scene.call('POST', '/devices/b/allow-certificate')
  await scene.call('DELETE', '/devices/b')
}

async function changeAccess(scene: Scene, api: OpenServer): Promise<void> {
  const { keyId } = await api.newKey(['READ'])
  await scene.call('DELETE', `/keys/${keyId}`)
  const { enrollmentId } = (await scene.call('POST', '/enrollments', { maxUses: 1 })).json
  await scene.call('DELETE', `/enrollments/${enrollmentId}`)
  await scene.call('PUT', '/webhooks/ops', { url: 'https://example.com/', eventTypes: ['key.created'] })
  await scene.call('POST', '/webhooks/ops/pause')
  await scene.call('DELETE', '/webhooks/ops')
  await scene.call('POST', '/owners', { ownerName: 'other' })
  const headers = { origin: api.http, 'content-type': 'application/json' }
  const body = JSON.stringify({ apiKey: api.adminKey })
  const signedIn = await fetch(`${api.http}/job/api/session`, { method: 'POST', headers, body })
  assert.equal(signedIn.status, 201)
  const { items } = (await scene.call('GET', '/sessions')).json
  await scene.call('DELETE', `/sessions/${items[0].sessionId}`)
}

/** `miss`: time passes in which the schedule did not run. */
async function emitAll(t: TestContext, options: ServerOptions, miss: () => unknown): Promise<JobcastEvent[]> {
  const api = await openServer(t, options)
  const listener = await EventListener.open(api.http, api.adminKey)
  t.after(() => listener.close())
  const scene = new Scene(api, listener)
  await carryOut(scene, api)
  await rollOut(scene, api)
  await changeResources(scene)
  await changeAccess(scene, api)
  for (const type of ['execution.timed_out', 'execution.expired'] as const) await scene.seen(type)
  await miss()
  await Promise.all(eventTypes.map((type) => scene.seen(type)))
  return listener.events
}

function check(events: JobcastEvent[]): void {
  for (const event of events) {
    const { type, data } = event
    const [problem] = Value.Errors(eventData[nounOf(type)], data)
    assert.equal(problem, undefined, `${type} ${JSON.stringify(data)}: ${JSON.stringify(problem)}`)
    const known = Object.keys(eventData[nounOf(type)].properties)
    assert.deepEqual(
      Object.keys(data).filter((name) => !known.includes(name)),
      [],
      type,
    )
    assert.doesNotMatch(subjectOf(event), /undefined/)
  }
  assert.deepEqual([...new Set(events.map(({ type }) => type))].sort(), eventTypes.toSorted())
}

test('every type of event is emitted on SQLite', longTest, async (t) => {
  const { now, forward } = buildClock()
  check(await emitAll(t, { now, databaseUrl: undefined, secretsKeys: [] }, () => forward(3 * dayMs)))
})

// There the wall clock is that of the database.
chaosTest('every type of event is emitted on PostgreSQL', longTest, async (t) => {
  const databaseUrl = await createDatabase(await sharedPostgres())
  const earlier = ['next_for', 'due_at', 'handled_at'].map((column) => `${column} = ${column} - ${3 * dayMs}`)
  const miss = () => execute(databaseUrl, `UPDATE schedule SET ${earlier}, version = version + 1`)
  const auditKeyFile = join(temporaryFolder(t), 'audit-key.pem')
  const { privateKey } = generateKeyPairSync('ed25519')
  writeFileSync(auditKeyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  check(await emitAll(t, { databaseUrl, auditKeyFile, secretsKeys: [Buffer.alloc(32, 7)] }, miss))
})
