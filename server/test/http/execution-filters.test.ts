// GET /job/api/executions: each filter alone, several at once, and what they refuse.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildClock, openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const clock = buildClock()
const api = await openSharedServer({ now: clock.now })
await api.putJobAndDevices('update', ['d1', 'd2'])
await api.putJobAndDevices('reboot', [])

type Execution = { jobExecutionId: number }
const idsOf = (executions: Execution[]) => executions.map((execution) => execution.jobExecutionId)
async function launch(jobName: string, deviceIds: string[]) {
  const reply = await api.trigger(jobName, deviceIds)
  return { ids: idsOf(reply.json), runId: Number(reply.headers.get('location')?.split('/').at(-1)) }
}
const list = async (query: string) =>
  idsOf((await api.call('GET', `/job/api/executions?${query}`)).json.items)

const first = await launch('update', ['d1', 'd2'])
clock.forward(60_000)
const noon = new Date(clock.now()).toISOString()
clock.forward(60_000)
const second = await launch('reboot', ['d2'])
const third = await launch('update', ['d1'])
const [u1, u2, r2, v1] = [...first.ids, ...second.ids, ...third.ids]
await api.call('POST', `/job/api/executions/${u2}/cancel`)

const found: Record<string, unknown[]> = {
  '': [v1, r2, u2, u1],
  'jobName=update': [v1, u2, u1],
  'jobName=nowhere': [],
  'deviceId=d2': [r2, u2],
  'deviceId=nobody': [],
  'deviceId=%25': [],
  'execState=PENDING': [v1, r2, u1],
  'execState=CANCELED': [u2],
  'execState=CANCELED,SUCCEEDED,FAILED': [u2],
  'execState=CANCELED&execState=PENDING': [v1, r2, u2, u1],
  'execState=PENDING,PENDING&runId=1': [u1],
  'finishedAfter=2000-01-01T00:00:00Z': [u2],
  'finishedBefore=2000-01-01T00:00:00Z': [],
  [`finishedAfter=${noon}&execState=CANCELED,FAILED&jobName=update`]: [u2],
  [`finishedBefore=${noon}`]: [],
  [`finishedAfter=${noon}&deviceId=d2`]: [u2],
  [`finishedAfter=${noon}&runId=${second.runId}`]: [],
  'execState=SUCCEEDED': [],
  [`runId=${first.runId}`]: [u2, u1],
  'runId=999999999': [],
  [`launchedAfter=${noon}`]: [v1, r2],
  [`launchedBefore=${noon}`]: [u2, u1],
  [`launchedAfter=${noon}&launchedBefore=${noon}`]: [],
  'jobName=update&deviceId=d2': [u2],
  'jobName=reboot&deviceId=d2&execState=PENDING': [r2],
  'deviceId=d2&execState=CANCELED': [u2],
  [`deviceId=d1&launchedAfter=${noon}`]: [v1],
  [`runId=${second.runId}&jobName=update`]: [],
}
for (const [query, ids] of Object.entries(found)) {
  test(`?${query.replaceAll(noon, 'noon')} finds ${ids.length}, newest first`, async () => {
    assert.deepEqual(await list(query), ids)
  })
}

test('launchedAfter takes an offset, and the instant itself counts as after, not as before', async () => {
  clock.forward(3_600_000)
  const { ids } = await launch('update', ['d1'])
  const inTokyo = new Date(clock.now() + 9 * 3_600_000).toISOString().replace('Z', '+09:00')
  const instant = encodeURIComponent(inTokyo)
  assert.deepEqual(await list(`launchedAfter=${instant}`), ids)
  assert.ok(!(await list(`launchedBefore=${instant}`)).includes(ids[0] as number))
})

const refused = [
  'execState=pending',
  'execState=',
  'execState=PENDING,canceled',
  'execState=PENDING&execState=',
  `execState=${Array(10).fill('PENDING')}`,
  'finishedAfter=yesterday',
  'runId=0',
  'runId=x',
  'jobName=',
  'jobName=%00',
  'deviceId=a&deviceId=b',
  'launchedAfter=2026-11-15',
  'launchedAfter=2026-11-15T09:30:00',
  'launchedBefore=2026-12-31T23:59:60Z',
  'launchedBefore=now',
  'state=PENDING',
]
for (const query of refused) {
  test(`answers J-500 to ?${query}`, async () => {
    assertRefused(await api.call('GET', `/job/api/executions?${query}`), 'J-500')
  })
}
