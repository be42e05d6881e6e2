// Devices that are connected to the user's own broker: a real mosquitto.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { connectAsync } from 'mqtt'
import { BrokerDevice, shareBridged } from './bridge-under-test.ts'

const options = { skip: withoutMosquitto }
const bridged = shareBridged()

test(
  'a device on the broker is notified, starts, reports and sends output and attributes',
  options,
  async (t) => {
    const { call, trigger, putJobAndDevices, broker } = await bridged()
    await putJobAndDevices('hello', ['d1'])
    const device = await BrokerDevice.open(t, broker.url, 'd1')
    const triggered = await trigger('hello', ['d1'])
    const [{ jobExecutionId }] = [triggered.json].flat()
    const { json: notice } = await device.next('jobs/notify-next')
    assert.equal(notice.execution.jobId, String(jobExecutionId))
    assert.equal(notice.execution.thingName, 'd1')
    assert.ok((await device.next('jobs/notify')).json.jobs.QUEUED)

    await waitUntil('the notice is recorded', async () => {
      const { json } = await call('GET', `/job/api/executions/${jobExecutionId}`)
      return json.notifiedAt !== null
    })
    const explained = await call('GET', `/job/api/executions/${jobExecutionId}/explain`)
    assert.match(explained.json.text, /^Handed to broker b1 at .*; device d1 has not requested it yet\.$/)
    const got = await device.request('jobs/get', { clientToken: 'c' })
    assert.equal(got.topic, 'jobs/get/accepted')
    assert.equal(got.json.clientToken, 'c')
    await waitUntil('it is delivered', async () => {
      const { json } = await call('GET', `/job/api/executions/${jobExecutionId}`)
      return json.deliveredAt !== null
    })

    const started = await device.request('jobs/start-next')
    assert.equal(started.json.execution.status, 'IN_PROGRESS')
    const output = await device.request(`jobs/${jobExecutionId}/output`, { offset: 0, data: 'aGVsbG8=' })
    assert.equal(output.topic, `jobs/${jobExecutionId}/output/accepted`)
    const described = await device.request(`jobs/${jobExecutionId}/get`)
    assert.equal(described.json.execution.status, 'IN_PROGRESS')
    const ended = await device.request(`jobs/${jobExecutionId}/update`, { status: 'SUCCEEDED' })
    assert.equal(ended.topic, `jobs/${jobExecutionId}/update/accepted`)
    const { json: nothing } = await device.next(
      (topic, json) => topic === 'jobs/notify' && !json.jobs.QUEUED && !json.jobs.IN_PROGRESS,
    )
    assert.deepEqual(nothing.jobs, {})
    const { json: execution } = await call('GET', `/job/api/executions/${jobExecutionId}`)
    assert.equal(execution.execState, 'SUCCEEDED')

    const shadow = await device.request('shadow/update', { state: { reported: { firmware: '1.2' } } })
    assert.equal(shadow.topic, 'shadow/update/accepted')
    const { json: known } = await call('GET', '/job/api/devices/d1')
    assert.equal(known.online, true)
    assert.equal(known.transport, 'bridge')
    assert.deepEqual(known.reportedAttributes, { firmware: '1.2' })
  },
)

test('a sleeping device gets its notice from the broker, which has kept it', options, async (t) => {
  const { trigger, putJobAndDevices, broker } = await bridged()
  await putJobAndDevices('hello', ['sleeper'])
  const session = { clean: false, clientId: 'sleeper' }
  const before = await BrokerDevice.open(t, broker.url, 'sleeper', session)
  await before.client.endAsync()
  const { json } = await trigger('hello', ['sleeper'])
  const after = await BrokerDevice.open(t, broker.url, 'sleeper', session)
  const { json: notice } = await after.next('jobs/notify-next')
  assert.equal(notice.execution.jobId, String([json].flat()[0].jobExecutionId))
})

test('what is not as it should be is rejected as on our own listener', options, async (t) => {
  const { trigger, putJobAndDevices, broker } = await bridged()
  await putJobAndDevices('hello', ['d2', 'other'])
  const { json } = await trigger('hello', ['other'])
  const foreign = [json].flat()[0].jobExecutionId
  const device = await BrokerDevice.open(t, broker.url, 'd2')
  const stranger = await BrokerDevice.open(t, broker.url, 'stranger')
  const rejected: [BrokerDevice, string, string | Buffer, string][] = [
    [device, 'jobs/get', '{', 'InvalidJson'],
    [device, 'jobs/get', Buffer.from([0xff, 0xfe]), 'InvalidJson'],
    [device, `jobs/${foreign}/update`, '{"status":"SUCCEEDED"}', 'ResourceNotFound'],
    [device, 'jobs/1.5/update', '{"status":"SUCCEEDED"}', 'InvalidTopic'],
    [device, 'jobs/get', ' '.repeat(128 * 1024), 'InvalidRequest'],
    [stranger, 'jobs/get', '{}', 'ResourceNotFound'],
    [stranger, 'shadow/update', '{"state":{"reported":{"a":1}}}', '404'],
  ]
  for (const [who, suffix, payload, code] of rejected) {
    await who.publish(suffix, payload)
    const { topic, json: answer } = await who.next((each) => each.startsWith(suffix))
    assert.equal(topic, `${suffix}/rejected`)
    assert.equal(String(answer.code), code)
  }
})

test('a retained request changes nothing, and QoS 0 is served', options, async (t) => {
  const { call, trigger, putJobAndDevices, broker } = await bridged()
  await putJobAndDevices('hello', ['d3'])
  const device = await BrokerDevice.open(t, broker.url, 'd3')
  const { json } = await trigger('hello', ['d3'])
  await device.publish('jobs/start-next', '{}', { retain: true })
  await device.publish('jobs/get', '{"clientToken":"second"}', { qos: 0 })
  const { json: queue } = await device.next('jobs/get/accepted')
  assert.equal(queue.clientToken, 'second')
  assert.equal(queue.queuedJobs.length, 1)
  const { json: execution } = await call('GET', `/job/api/executions/${[json].flat()[0].jobExecutionId}`)
  assert.equal(execution.execState, 'PENDING')
})

test('with enroll, a device is created when it is first heard; a revoked one is not', options, async (t) => {
  const { call, broker } = await bridged()
  const device = await BrokerDevice.open(t, broker.url, 'new one', {}, 'jobcast/things')
  assert.equal((await device.request('jobs/get')).topic, 'jobs/get/accepted')
  assert.equal((await call('GET', '/job/api/devices/new%20one')).json.deviceName, 'new one')
  assert.equal((await call('DELETE', '/job/api/devices/new%20one/credential')).status, 204)
  const { topic, json } = await device.request('jobs/get')
  assert.equal(topic, 'jobs/get/rejected')
  assert.equal(json.code, 'ResourceNotFound')
})

test('events of the owner are published on their topic', options, async (t) => {
  const { call, broker } = await bridged()
  const listener = await connectAsync(broker.url)
  t.after(() => void listener.end(true))
  const names: string[] = []
  listener.on('message', (_topic, payload) => names.push(JSON.parse(payload.toString()).data.jobName))
  await listener.subscribeAsync('jobcast/events', { qos: 1 })
  for (const name of ['one', 'two', 'three'])
    await call('PUT', `/job/api/jobs/${name}`, { body: { document: {} } })
  await waitUntil('they came', () => names.includes('three'))
  assert.deepEqual(
    names.filter((name) => name !== undefined),
    ['one', 'two', 'three'],
  )
})
