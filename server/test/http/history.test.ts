// The history of an execution: every step, oldest first.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer()
await api.putJobAndDevices('update', [])
const device = await newDevice(api, 'd1')
const adminKeyId = (await api.call('GET', '/job/api/keys')).json.items[0].keyId

type Step = { at: string; from: string | null; to: string; event: string; actor: string }
const history = (id: unknown) => api.call('GET', `/job/api/executions/${id}/history`)
async function launch(): Promise<number> {
  return (await api.trigger('update', ['d1'])).json[0].jobExecutionId
}
const shown = (items: Step[]) => items.map(({ from, to, event, actor }) => `${from} ${event} ${to} ${actor}`)

test('a new execution has one step: the key that triggered it', async () => {
  const id = await launch()
  const reply = await history(id)
  assert.equal(reply.status, 200)
  const [{ at, ...step }, ...more] = reply.json.items
  assert.match(at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  assert.deepEqual(step, {
    from: null,
    to: 'PENDING',
    event: 'trigger',
    actor: `key ${adminKeyId}`,
    actorName: 'admin',
    attempt: 1,
    versionNumber: 1,
    reason: null,
  })
  assert.deepEqual(more, [])
  await api.call('POST', `/job/api/executions/${id}/cancel`)
})

test('steps of the device, of the owner and of both are told apart, in their order', async () => {
  const id = await launch()
  await device.startNext()
  const { keyId, apiKey } = await api.newKey(['MANAGE'])
  await api.call('POST', `/job/api/executions/${id}/cancel`, { key: apiKey })
  await device.update(id, 'CANCELED')
  const { items } = (await history(id)).json
  assert.deepEqual(shown(items), [
    `null trigger PENDING key ${adminKeyId}`,
    'PENDING start IN_PROGRESS device',
    `IN_PROGRESS cancel CANCELING key ${keyId}`,
    'CANCELING confirm-cancel CANCELED device',
  ])
  const times = items.map(({ at }: Step) => at)
  assert.deepEqual(times, times.toSorted())
})

test('progress is no step, but counts as a version', async () => {
  const id = await launch()
  await device.startNext()
  await device.update(id, 'IN_PROGRESS', { statusDetails: { percent: '50' } })
  await device.update(id, 'SUCCEEDED')
  const { items } = (await history(id)).json
  assert.deepEqual(
    items.map(({ event, versionNumber }: { event: string; versionNumber: number }) => [event, versionNumber]),
    [
      ['trigger', 1],
      ['start', 2],
      ['succeed', 4],
    ],
  )
})

test('an attempt that is followed by another shows as a retry', async () => {
  await api.call('PUT', '/job/api/jobs/retried', { body: { retry: { max: 1, backoffSeconds: 0 } } })
  const [{ jobExecutionId: id }] = (await api.trigger('retried', ['d1'])).json
  await device.startNext()
  await device.update(id, 'FAILED')
  const { items } = (await history(id)).json
  assert.deepEqual(shown(items).at(-1), 'IN_PROGRESS retry PENDING device')
  assert.equal(items.at(-1).attempt, 1)
  await api.call('POST', `/job/api/executions/${id}/cancel`)
})

test('answers J-302 for an execution that is not there, and J-500 to an id that is none', async () => {
  assertRefused(await history(999_999_999), 'J-302')
  assertRefused(await history('x'), 'J-500')
})
