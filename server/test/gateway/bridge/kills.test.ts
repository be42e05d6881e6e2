// Broker, service and device are killed in turn: nothing is lost, and nothing is applied twice.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMosquitto, withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { spawnServer } from '@jobcast/testkit/spawn-server'
import { newDataFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { BrokerDevice, whenConnected } from './bridge-under-test.ts'

const options = { skip: withoutMosquitto, ...longTest }
const rounds = testSize('rounds', { test: 1, chaos: 5 })

test(`broker, service and device are killed ${rounds} times each`, options, async (t) => {
  const folder = newDataFolder()
  removeAfter(t, folder)
  const broker = await openMosquitto(t, {})
  const start = () => spawnServer(folder, '--bridge', broker.url)
  let server = await start()
  t.after(() => server.end('SIGKILL').then(() => undefined))
  await whenConnected(server)
  await server.putJobAndDevices('hello', ['d1'])
  const session = { clean: false, clientId: 'd1' }
  let device = await BrokerDevice.open(t, broker.url, 'd1', session)

  for (let round = 0; round < rounds; round++) {
    const triggered = await server.trigger('hello', ['d1'])
    const [{ jobExecutionId }] = [triggered.json].flat()
    await device.next(
      (topic, json) => topic === 'jobs/notify-next' && json.execution?.jobId === String(jobExecutionId),
    )
    const started = await device.request('jobs/start-next')
    assert.equal(started.json.execution.jobId, String(jobExecutionId))

    // The service is away when the device reports its end: the broker keeps the report.
    await server.end('SIGKILL')
    await device.publish(`jobs/${jobExecutionId}/update`, '{"status":"SUCCEEDED","expectedVersion":2}')
    server = await start()
    const { topic } = await device.next((each) => each.startsWith(`jobs/${jobExecutionId}/update/`))
    assert.match(topic, /accepted$/)
    const { json } = await server.call('GET', `/job/api/executions/${jobExecutionId}/history`)
    const ends = json.items.filter(({ to }: { to: string }) => to === 'SUCCEEDED')
    assert.equal(ends.length, 1)

    // The broker is away during a trigger; the device, too, when it is back.
    await broker.end('SIGKILL')
    await whenConnected(server, false)
    const whileAway = await server.trigger('hello', ['d1'])
    const [{ jobExecutionId: second }] = [whileAway.json].flat()
    device.client.stream.destroy()
    device.client.end(true)
    await broker.start()
    await whenConnected(server)
    device = await BrokerDevice.open(t, broker.url, 'd1', session)
    await device.next((each, body) => each === 'jobs/notify-next' && body.execution?.jobId === String(second))
    await device.request('jobs/start-next')
    const ended = await device.request(`jobs/${second}/update`, { status: 'SUCCEEDED' })
    assert.match(ended.topic, /accepted$/)
  }
})
