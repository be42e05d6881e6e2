// Notices that must not be published, because the broker would deliver them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { BrokerDevice, shareBridged } from './bridge-under-test.ts'

const options = { skip: withoutMosquitto }
const bridged = shareBridged()

/** What came of an execution. */
const noticesOf = ({ messages }: BrokerDevice, jobExecutionId: number) =>
  messages.filter(
    ({ topic, json }) =>
      topic.startsWith('jobs/notify') && JSON.stringify(json).includes(`"jobId":"${jobExecutionId}"`),
  )

/** Runs the job on both, and comes back when the second one was notified and the first one has asked. */
async function triggerBoth(withheld: BrokerDevice, notified: BrokerDevice, deviceIds: [string, string]) {
  const { trigger } = await bridged()
  const { json } = await trigger('hello', deviceIds)
  const [first, second] = json.map(({ jobExecutionId }: { jobExecutionId: number }) => jobExecutionId)
  await notified.next((topic) => topic === 'jobs/notify' && noticesOf(notified, second).length > 0)
  // Its answer comes behind all that was published before.
  const answer = await withheld.request('jobs/get')
  return { jobExecutionId: Number(first), answer }
}

test('a revoked device is not notified, until its certificate is allowed again', options, async (t) => {
  const { call, trigger, putJobAndDevices, broker } = await bridged()
  await putJobAndDevices('hello', ['revoked', 'trusted'])
  const revoked = await BrokerDevice.open(t, broker.url, 'revoked')
  const trusted = await BrokerDevice.open(t, broker.url, 'trusted')
  await trigger('hello', ['revoked'])
  await revoked.next('jobs/notify-next')
  await revoked.next('jobs/notify')
  assert.equal((await call('DELETE', '/job/api/devices/revoked/credential')).status, 204)
  const { jobExecutionId, answer } = await triggerBoth(revoked, trusted, ['revoked', 'trusted'])
  assert.equal(answer.topic, 'jobs/get/rejected')
  assert.deepEqual(noticesOf(revoked, jobExecutionId), [])
  assert.equal((await call('POST', `/job/api/executions/${jobExecutionId}/cancel`, { body: {} })).status, 200)

  assert.equal((await call('POST', '/job/api/devices/revoked/allow-certificate')).status, 200)
  const { json } = await trigger('hello', ['revoked'])
  const [{ jobExecutionId: allowed }] = json
  await revoked.next((topic) => topic === 'jobs/notify' && noticesOf(revoked, allowed).length > 0)
})

test('a device whose window is closed is not notified', options, async (t) => {
  const { call, trigger, putJobAndDevices, broker } = await bridged()
  await putJobAndDevices('hello', ['held', 'free'])
  const held = await BrokerDevice.open(t, broker.url, 'held')
  const free = await BrokerDevice.open(t, broker.url, 'free')
  // It is known that nothing waits for it: then its queue is not read for what is launched.
  await trigger('hello', ['held'])
  const { jobId } = (await held.request('jobs/start-next')).json.execution
  await held.request(`jobs/${jobId}/update`, { status: 'SUCCEEDED' })
  await held.next(
    (topic, { jobs }) => topic === 'jobs/notify' && jobs.QUEUED === undefined && !jobs.IN_PROGRESS,
  )
  const cron = `0 ${(new Date().getUTCHours() + 12) % 24} * * *`
  const window = { cron, durationMinutes: 60, timeZone: 'UTC' }
  assert.equal((await call('PUT', '/job/api/windows/later', { body: window })).status, 201)
  assert.equal((await call('PUT', '/job/api/devices/held', { body: { window: 'later' } })).status, 200)
  const { jobExecutionId, answer } = await triggerBoth(held, free, ['held', 'free'])
  assert.deepEqual(answer.json.queuedJobs, [])
  assert.deepEqual(noticesOf(held, jobExecutionId), [])
})
