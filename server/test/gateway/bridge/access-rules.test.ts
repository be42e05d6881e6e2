// The access rules for Mosquitto in docs/bridge.md: the bridge works with them, and no device can impersonate another.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { BrokerDevice, openBridged } from './bridge-under-test.ts'

const page = readFileSync(new URL('../../../../docs/bridge.md', import.meta.url), 'utf8')
const [, rules = ''] = /```text\n(user jobcast\n[^`]+)```/.exec(page) ?? []

test('with the rules of the page a device can speak for itself only', {
  skip: withoutMosquitto,
}, async (t) => {
  const users = { jobcast: 'secret', d1: 'one', d2: 'two' }
  const signIn = { user: 'jobcast', password: 'secret' }
  const broker = { acl: rules.trimEnd().split('\n'), users }
  const {
    trigger,
    putJobAndDevices,
    broker: { url },
    call,
  } = await openBridged(t, signIn, {}, broker)
  await putJobAndDevices('hello', ['d1', 'd2'])
  const d1 = await BrokerDevice.open(t, url, 'd1', { username: 'd1', password: 'one' })
  const d2 = await BrokerDevice.open(t, url, 'd2', { username: 'd2', password: 'two' })
  const { json } = await trigger('hello', ['d1'])
  const [{ jobExecutionId }] = [json].flat()
  await d1.next('jobs/notify-next')
  // Mosquitto takes it and drops it.
  await d2.client.publishAsync('$aws/things/d1/jobs/start-next', '{}', { qos: 1 })
  assert.equal((await d2.request('jobs/get')).topic, 'jobs/get/accepted')
  const { json: execution } = await call('GET', `/job/api/executions/${jobExecutionId}`)
  assert.equal(execution.execState, 'PENDING')
  assert.equal((await d1.request('jobs/start-next')).json.execution.jobId, String(jobExecutionId))
  assert.deepEqual(d2.messages, [])
})
