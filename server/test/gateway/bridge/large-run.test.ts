// More notices than a broker takes at once: all are published, once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { connectAsync } from 'mqtt'
import { openBridged } from './bridge-under-test.ts'

const devices = testSize('devices', { test: 1000, chaos: 5000 })
// To save its queues for each message would take mosquitto most of its time.
const settings = ['max_queued_messages 0', 'autosave_on_changes false', 'autosave_interval 1800']
const deviceIds = Array.from({ length: devices }, (_, index) => `d${index + 1}`)

test(`${devices} devices get each notice of a run once`, { skip: withoutMosquitto }, async (t) => {
  const server = await openBridged(t, {}, {}, { settings })
  const { call, putJobAndDevices, trigger, broker } = server
  await putJobAndDevices('hello', deviceIds)
  const reader = await connectAsync(broker.url)
  t.after(() => void reader.end(true))
  /** How often each execution was named; '': nothing waits. */
  let named = new Map<string, number>()
  reader.on('message', (_topic, payload) => {
    const id = JSON.parse(payload.toString()).execution?.jobId ?? ''
    named.set(id, (named.get(id) ?? 0) + 1)
  })
  await reader.subscribeAsync('$aws/things/+/jobs/notify-next', { qos: 1 })

  // The queues are read for the first run, and not for the second one.
  for (let round = 0; round < 2; round++) {
    const { json } = await trigger('hello', deviceIds)
    const ids = json.map(({ jobExecutionId }: { jobExecutionId: number }) => String(jobExecutionId))
    await waitUntil('all are notified', () => named.size === devices, { timeoutMs: 120_000 })
    assert.deepEqual(new Map(named), new Map(ids.map((id: string) => [id, 1])))
    named = new Map()
    const { runId } = (await call('GET', `/job/api/executions/${ids[0]}`)).json
    const canceled = await call('POST', `/job/api/runs/${runId}/cancel`)
    assert.equal(canceled.status, 200, canceled.text)
    await waitUntil('all know that nothing waits', () => named.get('') === devices, { timeoutMs: 120_000 })
    assert.equal(named.size, 1)
    named = new Map()
  }
})
