// Whether the broker has accepted a notice, and whether it has a subscriber.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { withoutMosquitto } from '@jobcast/testkit/mosquitto'
import type { OpenServer } from '@jobcast/testkit/open-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { BrokerDevice, openBridged } from './bridge-under-test.ts'

const options = { skip: withoutMosquitto }

function whenHanded({ call }: OpenServer, jobExecutionId: number): Promise<unknown> {
  return waitUntil('the notice is recorded', async () => {
    const { json } = await call('GET', `/job/api/executions/${jobExecutionId}`)
    return json.notifiedAt !== null
  })
}

async function explain({ call }: OpenServer, jobExecutionId: number) {
  const { json } = await call('GET', `/job/api/executions/${jobExecutionId}/explain`)
  return [json.code, json.text]
}

test('a device without a subscriber on the broker was not notified', options, async (t) => {
  const server = await openBridged(t)
  await server.putJobAndDevices('hello', ['absent', 'present'])
  await BrokerDevice.open(t, server.broker.url, 'present')
  const { json } = await server.trigger('hello', ['absent', 'present'])
  const [absent, present] = json.map(({ jobExecutionId }: { jobExecutionId: number }) => jobExecutionId)
  // Published after the other one.
  await whenHanded(server, present)
  const execution = await server.call('GET', `/job/api/executions/${absent}`)
  assert.equal(execution.json.notifiedAt, null)
  assert.equal((await explain(server, absent))[0], 'DEVICE_NEVER_CONNECTED')
})

test('a notice that the broker refuses is published again until it takes it', options, async (t) => {
  const acl = join(temporaryFolder(t), 'acl')
  const allow = (...rules: string[]) =>
    writeFileSync(acl, ['user d1', 'topic #', 'topic $aws/#', 'user jobcast', ...rules, ''].join('\n'), {
      mode: 0o600,
    })
  allow('topic read $aws/#')
  const server = await openBridged(
    t,
    { user: 'jobcast', password: 'secret' },
    {},
    { users: { jobcast: 'secret', d1: 'one' }, settings: [`acl_file ${acl}`] },
  )
  const { broker, putJobAndDevices, trigger, call } = server
  await putJobAndDevices('hello', ['d1'])
  const device = await BrokerDevice.open(t, broker.url, 'd1', { username: 'd1', password: 'one' })
  const { json } = await trigger('hello', ['d1'])
  const [{ jobExecutionId }] = json
  await waitUntil('it is refused', async () => {
    const ready = await fetch(`${server.server.metrics}/readyz`)
    const { bridges } = (await ready.json()) as { bridges: [{ lastError: string }] }
    return /was refused: Publish error: Not authorized/.test(bridges[0].lastError)
  })
  assert.equal((await call('GET', `/job/api/executions/${jobExecutionId}`)).json.notifiedAt, null)
  allow('topic read $aws/#', 'topic write $aws/#')
  broker.setPassword('jobcast', 'secret')
  const { json: notice } = await device.next('jobs/notify-next')
  assert.equal(notice.execution.jobId, String(jobExecutionId))
  await whenHanded(server, jobExecutionId)
})
