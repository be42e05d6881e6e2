// Any node serves any call, and any device can connect to any node.

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { MqttLine } from '@jobcast/testkit/mqtt-line'
import type { OpenServer } from '@jobcast/testkit/open-server'
import { execute } from '@jobcast/testkit/postgres-server'
import { accepted } from '@jobcast/testkit/simulated-device'
import { waitUntil } from '@jobcast/testkit/wait-until'
import pg from 'pg'
import { type ConnectedDevice, connectDevice, isNext } from './connected-device.ts'
import { openNodes } from './open-nodes.ts'

const { databaseUrl, nodes } = await openNodes({ after }, 2)
const [one, two] = nodes as [OpenServer, OpenServer]
await one.putJobAndDevices('restart', [])

const connect = (t: TestContext, { server }: OpenServer, deviceId: string, token: string) =>
  connectDevice(t, server.mqtt, { deviceId, token })

test('a device on one node gets a run triggered on another node, and its report ends a wait there', async (t) => {
  const { token } = await newDevice(one, 'd1')
  const device = await connect(t, two, 'd1', token)
  const { json } = await one.trigger('restart', ['d1'])
  const [{ jobExecutionId }] = json.executions ?? json
  const waiting = one.call('GET', `/job/api/executions/${jobExecutionId}?wait=60`)
  const { execution } = await device.notice(isNext)
  assert.equal(Number(execution.jobId), jobExecutionId)
  accepted(await device.line.request('start-next', {}))
  accepted(await device.line.request(`${jobExecutionId}/update`, { status: 'SUCCEEDED' }))
  assert.equal((await waiting).json.execState, 'SUCCEEDED')
  await t.test('a window changed on one node applies to devices on the other', () =>
    changeWindow(one, two, device),
  )
})

/** On leap days, and all the time. */
const closed = { cron: '0 0 29 2 *', durationMinutes: 1, timeZone: 'device' }
const opened = { cron: '* * * * *', durationMinutes: 2, timeZone: 'device' }

async function changeWindow(one: OpenServer, two: OpenServer, device: ConnectedDevice): Promise<void> {
  const put = async (body: object) =>
    assert.ok((await one.call('PUT', '/job/api/windows/w', { body })).status <= 201)
  const startNext = async () => accepted(await device.line.request('start-next', {})).execution?.jobId
  await put(closed)
  await one.call('PUT', '/job/api/jobs/nightly', { body: { window: 'w' } })
  // So many that the other node reads the run by itself.
  const others = Array.from({ length: 60 }, (_, index) => `o${index}`)
  await one.putJobAndDevices('restart', others)
  const { json } = await one.trigger('nightly', ['d1', ...others])
  const id: number = json[0].jobExecutionId
  const plain = (await two.trigger('restart', ['d1'])).json[0].jobExecutionId
  const nextOf = (jobExecutionId: number) =>
    device.notice((suffix, json) => isNext(suffix, json) && Number(json.execution.jobId) === jobExecutionId)
  await nextOf(plain)
  assert.equal(await startNext(), String(plain))
  accepted(await device.line.request(`${plain}/update`, { status: 'SUCCEEDED' }))
  assert.equal(await startNext(), undefined)
  assert.ok(device.notices.every(({ json }) => !JSON.stringify(json).includes(`"${id}"`)))
  const explained = await two.call('GET', `/job/api/executions/${id}/explain`)
  assert.equal(explained.json.code, 'OUTSIDE_WINDOW')
  await put(opened)
  await nextOf(id)
  await put(closed)
  assert.equal(await startNext(), undefined, 'at once')
  assert.equal((await device.line.request(`${id}/update`, { status: 'IN_PROGRESS' })).outcome, 'rejected')
  await put(opened)
  assert.equal(await startNext(), String(id), 'at once')
}

test('the window of a group put on one node applies to its devices on the other', async (t) => {
  const { token } = await newDevice(one, 'grouped')
  const device = await connect(t, two, 'grouped', token)
  const put = async (path: string, body: object) =>
    assert.ok((await one.call('PUT', `/job/api/${path}`, { body })).status <= 201)
  const startNext = async () => accepted(await device.line.request('start-next', {})).execution?.jobId
  await put('windows/of-group', closed)
  await put('groups/held', { where: 'tag=held', window: 'of-group' })
  await put('devices/grouped', { tags: ['held'] })
  const id: number = (await two.trigger('restart', ['grouped'])).json[0].jobExecutionId
  assert.equal(await startNext(), undefined)
  assert.match(
    (await two.call('GET', `/job/api/executions/${id}/explain`)).json.text,
    /^Window of-group of group held is closed/,
  )
  await put('windows/of-group', opened)
  await device.notice((suffix, json) => isNext(suffix, json) && Number(json.execution.jobId) === id)
  await put('windows/of-group', closed)
  assert.equal(await startNext(), undefined, 'at once')
  await put('groups/held', { where: 'tag=held' })
  assert.equal(await startNext(), String(id), 'at once')
})

test('a credential that is revoked on one node ends the connection on another', async (t) => {
  const { token } = await newDevice(one, 'd2')
  const device = await connect(t, two, 'd2', token)
  assert.equal((await one.call('DELETE', '/job/api/devices/d2/credential')).status, 204)
  await device.line.closed
  await assert.rejects(MqttLine.open(two.server.mqtt, { deviceId: 'd2', token }))
})

test('a device that connects to another node is taken over from the first, and stays online', async (t) => {
  const { token } = await newDevice(one, 'd3')
  const first = await connect(t, one, 'd3', token)
  const second = await connect(t, two, 'd3', token)
  await first.line.closed
  for (const node of [one, two]) {
    const { json } = await node.call('GET', '/job/api/devices/d3')
    assert.equal(json.online, true)
  }
  assert.equal(second.line.isClosed, false)
})

test('nodes inform each other of a run on more devices than one write contains', async (t) => {
  const rawBody = Array.from({ length: 10_200 }, (_, n) => `{"deviceId":"many-${n}"}\n`).join('')
  const headers = { 'content-type': 'application/x-ndjson' }
  assert.equal((await one.call('POST', '/job/api/devices/import', { rawBody, headers })).status, 200)
  const { token } = await newDevice(one, 'many-7')
  const device = await connect(t, two, 'many-7', token)
  const hears = new pg.Client({ connectionString: databaseUrl })
  await hears.connect()
  t.after(() => hears.end())
  const hints: { kind: string; runId?: number; from?: number; to?: number }[] = []
  hears.on('notification', ({ payload = '' }) => {
    if (payload.startsWith('[')) hints.push(...JSON.parse(payload))
  })
  await hears.query('LISTEN jobcast')
  const body = { jobName: 'restart', targets: { where: 'deviceId~many-*' } }
  const { json: run } = await one.call('POST', '/job/api/runs', { body })
  assert.equal(run.total, 10_200)
  const { execution } = await device.notice(isNext)
  const parts = () => hints.filter(({ kind, runId }) => kind === 'released' && runId === run.runId)
  await waitUntil('all parts are told', () => parts().length === 3)
  assert.deepEqual(
    parts().map(({ from, to }) => [from, to]),
    [
      [0, 5000],
      [5000, 10_000],
      [10_000, 10_200],
    ],
  )
  accepted(await device.line.request(`${execution.jobId}/update`, { status: 'SUCCEEDED' }))
})

test('a late hint of a run does not notify of an ended execution', async (t) => {
  const { token } = await newDevice(one, 'd5')
  const device = await connect(t, two, 'd5', token)
  const carryOut = async () => {
    const reply = await one.trigger('restart', ['d5'])
    const [{ jobExecutionId }] = reply.json
    await device.notice(
      (suffix, json) => isNext(suffix, json) && Number(json.execution.jobId) === jobExecutionId,
    )
    accepted(await device.line.request(`${jobExecutionId}/update`, { status: 'SUCCEEDED' }))
    await device.notice((suffix, json) => {
      const isLast = device.notices.at(-1)?.json === json
      return suffix === 'notify-next' && json.execution === undefined && isLast
    })
    return { jobExecutionId, runId: Number(reply.headers.get('location')?.split('/').at(-1)) }
  }
  const first = await carryOut()
  const hint = `'[{"kind":"launched","runId":${first.runId},"ownerNo":' || owner_no || '}]'`
  await execute(databaseUrl, `SELECT pg_notify('jobcast', ${hint}) FROM run WHERE run_id = ${first.runId}`)
  // What comes behind the hint is told behind it.
  await carryOut()
  const times = device.notices.filter(({ json }) => Number(json.execution?.jobId) === first.jobExecutionId)
  assert.equal(times.length, 1)
})
