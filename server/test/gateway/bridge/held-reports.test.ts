// Reports of a device that sends more than is served at once: none is acknowledged before it is on disk.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { BrokerDevice, openBridged } from './bridge-under-test.ts'

const options = { skip: withoutMosquitto }
const burst = 300
const rates = { address: 0, 'sign-in': 0, key: 0, owner: 0, device: burst / 10, session: 0 }

test('a backlog of output and the end of its execution are stored whole', options, async (t) => {
  const { call, trigger, putJobAndDevices, broker } = await openBridged(t, {}, { rates })
  await putJobAndDevices('hello', ['d1'])
  const device = await BrokerDevice.open(t, broker.url, 'd1')
  await trigger('hello', ['d1'])
  const { jobId } = (await device.request('jobs/start-next')).json.execution
  const pieces = Array.from({ length: 200 }, (_, index) => `${index}\n`.padStart(8))
  const published = pieces.map((data, index) =>
    device.publish(`jobs/${jobId}/output`, JSON.stringify({ offset: index * 8, data })),
  )
  await Promise.all([...published, device.publish(`jobs/${jobId}/update`, '{"status":"SUCCEEDED"}')])
  const { topic } = await device.next((each) => each.startsWith(`jobs/${jobId}/update/`))
  assert.equal(topic, `jobs/${jobId}/update/accepted`)
  assert.equal((await call('GET', `/job/api/executions/${jobId}/output`)).text, pieces.join(''))
  const { json } = await call('GET', `/job/api/executions/${jobId}`)
  assert.equal(json.execState, 'SUCCEEDED')
})

test(
  'the end of an execution waits for the rate limit, whatever else the device asks',
  options,
  async (t) => {
    const { call, trigger, putJobAndDevices, broker } = await openBridged(t, {}, { rates })
    await putJobAndDevices('hello', ['d1'])
    const device = await BrokerDevice.open(t, broker.url, 'd1')
    await trigger('hello', ['d1'])
    const { jobId } = (await device.request('jobs/start-next')).json.execution
    // Each costs thirty.
    const large = JSON.stringify({ clientToken: 'c', padding: ' '.repeat(120_000) })
    await Promise.all(Array.from({ length: 2 * 10 }, () => device.publish('jobs/get', large)))
    await device.next((topic, json) => topic === 'jobs/get/rejected' && json.code === 'RequestThrottled')
    const output = 'x'.repeat(100_000)
    const reported = [
      device.publish(`jobs/${jobId}/output`, JSON.stringify({ offset: 0, data: output })),
      device.publish(`jobs/${jobId}/update`, '{"status":"SUCCEEDED"}'),
    ]
    await Promise.all([...reported, ...Array.from({ length: 50 }, () => device.publish('jobs/get', '{}'))])
    const { topic } = await device.next((each) => each.startsWith(`jobs/${jobId}/update/`))
    assert.equal(topic, `jobs/${jobId}/update/accepted`)
    assert.equal((await call('GET', `/job/api/executions/${jobId}/output`)).text, output)
  },
)
