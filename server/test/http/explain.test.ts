// Why an execution is in its state. The sentences are tested in domain/explain-execution.test.ts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer({ cancelDeadlineSeconds: 600 })
await api.putJobAndDevices('update', [])

const explain = (id: unknown) => api.call('GET', `/job/api/executions/${id}/explain`)
async function launch(deviceId: string, jobName = 'update'): Promise<number> {
  return (await api.trigger(jobName, [deviceId])).json[0].jobExecutionId
}

test('a device that never connected, with and without a token', async () => {
  await api.putJobAndDevices('update', ['bare'])
  const id = await launch('bare')
  const reply = await explain(id)
  assert.equal(reply.status, 200)
  assert.deepEqual(reply.json, {
    jobExecutionId: id,
    execState: 'PENDING',
    code: 'DEVICE_NEVER_CONNECTED',
    text: 'Device bare has never connected; it has no device token yet.',
    since: null,
    until: null,
    expiresAt: null,
    behind: null,
  })
  await newDevice(api, 'bare')
  assert.match((await explain(id)).json.text, /it gets this when it does/)
})

test('from the trigger to the end: not notified, notified, running, canceling, ended', async () => {
  const device = await newDevice(api, 'd1')
  await device.call('GET', '')
  const id = await launch('d1')
  assert.equal((await explain(id)).json.code, 'NOT_NOTIFIED_YET')
  await device.call('GET', '')
  // When it was told is written a moment later.
  await waitUntil('that is written', async () => (await explain(id)).json.code === 'NOTIFIED')
  await device.startNext()
  const running = (await explain(id)).json
  assert.deepEqual([running.code, running.execState, running.until], ['RUNNING', 'IN_PROGRESS', null])
  await api.call('POST', `/job/api/executions/${id}/cancel`)
  const canceling = (await explain(id)).json
  assert.equal(canceling.code, 'CANCEL_REQUESTED')
  const minutesLeft = (Date.parse(canceling.until) - Date.now()) / 60_000
  assert.ok(minutesLeft > 8 && minutesLeft <= 10, `${minutesLeft}`)
  await device.update(id, 'CANCELED')
  const ended = (await explain(id)).json
  assert.equal(ended.code, 'ENDED')
  assert.match(ended.text, /^CANCELED: confirmed by the device at .*Z, requested by key \w+ at .*Z\.$/)
})

test('an execution that waits for another one names it', async () => {
  const device = await newDevice(api, 'd2')
  await device.call('GET', '')
  const [first, second] = [await launch('d2'), await launch('d2')]
  assert.deepEqual(
    [(await explain(second)).json.code, (await explain(second)).json.behind],
    ['BEHIND_EXECUTION', first],
  )
  await device.startNext()
  assert.match(
    (await explain(second)).json.text,
    new RegExp(`execution ${first} first, which is IN_PROGRESS`),
  )
  await device.update(first, 'SUCCEEDED')
  assert.equal((await explain(second)).json.behind, null)
})

test('the end by a timer and the end of a retry delay are given', async () => {
  const policies = { timeoutSeconds: 3600, retry: { max: 1, backoffSeconds: 3600 } }
  await api.call('PUT', '/job/api/jobs/retried', { body: policies })
  const device = await newDevice(api, 'd3')
  const id = await launch('d3', 'retried')
  await device.startNext()
  const running = (await explain(id)).json
  const left = (Date.parse(running.until) - Date.now()) / 60_000
  assert.ok(left > 58 && left <= 60, `${left}`)
  await device.update(id, 'FAILED')
  const waiting = (await explain(id)).json
  assert.equal(waiting.code, 'WAITING_FOR_RETRY')
  assert.match(waiting.text, /^Attempt 1 failed at /)
  const { notBefore } = (await api.call('GET', `/job/api/executions/${id}`)).json
  const rest = (Date.parse(waiting.until) - Date.now()) / 60_000
  assert.ok(rest > 28 && rest <= 60, `${rest}`)
  assert.ok(Math.abs(Date.parse(notBefore) - Date.parse(waiting.until)) < 1000)
})

test('an execution that its device has postponed is explained with reason and time', async () => {
  await api.call('PUT', '/job/api/jobs/later', { body: {} })
  const device = await newDevice(api, 'd-later')
  const id = await launch('d-later', 'later')
  await device.startNext()
  const rejected = (statusDetails: object) => device.update(id, 'REJECTED', { statusDetails })
  for (const retryAfterSeconds of ['0', '86401', '1.5', 'soon', '-1', -1, 1.5, true, null]) {
    const refused = await rejected({ retryAfterSeconds })
    assert.equal(refused.status, 400, `${retryAfterSeconds}`)
    assert.match(refused.json.message, /^statusDetails\.retryAfterSeconds must be /)
  }
  assert.equal((await explain(id)).json.code, 'RUNNING')
  const accepted = await rejected({ retryAfterSeconds: 600, reason: 'a customer is using it' })
  assert.equal(accepted.status, 200, accepted.text)
  const waiting = (await explain(id)).json
  assert.deepEqual([waiting.code, waiting.execState], ['NOT_NOW', 'PENDING'])
  assert.match(waiting.text, /cannot run this now \(a customer is using it\); it is offered again at /)
  const { notBefore, attempt, statusDetails } = (await api.call('GET', `/job/api/executions/${id}`)).json
  assert.deepEqual([attempt, statusDetails.retryAfterSeconds], [1, '600'])
  assert.ok(Math.abs(Date.parse(notBefore) - Date.parse(waiting.until)) < 1000)
  const minutes = (Date.parse(notBefore) - Date.now()) / 60_000
  assert.ok(minutes > 8 && minutes <= 10, `${minutes}`)
  assert.equal((await device.startNext()).json.execution, undefined)
  const history = (await api.call('GET', `/job/api/executions/${id}/history`)).json.items
  assert.equal(history.at(-1).event, 'not-now')
  // A detail of that name means nothing in other reports.
  const other = await launch('d-later', 'later')
  await device.startNext()
  const done = await device.update(other, 'SUCCEEDED', { statusDetails: { retryAfterSeconds: 'x' } })
  assert.equal(done.status, 200)
})

test('answers J-302 for an execution that is not there, and J-500 to an id that is none', async () => {
  assertRefused(await explain(999_999_999), 'J-302')
  assertRefused(await explain('x'), 'J-500')
})
