// Another broker than mosquitto: ejabberd, which reserves topics that begin with "$".

import assert from 'node:assert/strict'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { openEjabberd, withoutEjabberd } from '@jobcast/testkit/ejabberd'
import { openServer } from '@jobcast/testkit/open-server'
import { startProgram } from '@jobcast/testkit/spawn-server'
import { newDataFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { BrokerDevice, bridgeTo, whenConnected } from './bridge-under-test.ts'

const options = { skip: withoutEjabberd }
const prefix = 'jobcast/things'
const session = { clean: false, username: 'd1', password: 'any' }

for (const protocolVersion of [4, 5] as const) {
  chaosTest(
    `ejabberd, MQTT ${protocolVersion}: an execution ends, though the service is killed`,
    options,
    async (t) => {
      const { url } = await openEjabberd(t)
      const folder = newDataFolder()
      removeAfter(t, folder)
      const flags = ['--bridge', url, '--bridge-prefix', prefix]
      const env = { JOBCAST_BRIDGE_USER: 'jobcast', JOBCAST_BRIDGE_PASSWORD: 'any' }
      const start = () => startProgram(folder, { flags, env }).ready
      let server = await start()
      t.after(() => server.end('SIGKILL').then(() => undefined))
      await whenConnected(server)
      await server.putJobAndDevices('hello', ['d1'])
      const device = await BrokerDevice.open(t, url, 'd1', { ...session, protocolVersion }, prefix)
      const { json } = await server.trigger('hello', ['d1'])
      const [{ jobExecutionId }] = [json].flat()
      await device.next((topic) => topic === 'jobs/notify-next')
      const started = await device.request('jobs/start-next')
      assert.equal(started.json.execution.jobId, String(jobExecutionId))

      // The broker keeps the report for the session of the service.
      await server.end('SIGKILL')
      await device.publish(`jobs/${jobExecutionId}/update`, '{"status":"SUCCEEDED","expectedVersion":2}')
      server = await start()
      const { topic } = await device.next((each) => each.startsWith(`jobs/${jobExecutionId}/update/`))
      assert.match(topic, /accepted$/)
      const { json: ended } = await server.call('GET', `/job/api/executions/${jobExecutionId}`)
      assert.equal(ended.execState, 'SUCCEEDED')
    },
  )
}

chaosTest('ejabberd: the bridge says that the broker rejects topics with "$"', options, async (t) => {
  const { url } = await openEjabberd(t)
  const server = await openServer(t, { bridges: [bridgeTo(url, { user: 'jobcast', password: 'any' })] })
  await whenConnected(server)
  await server.putJobAndDevices('hello', ['d1'])
  await server.trigger('hello', ['d1'])
  await waitUntil('it is said', async () => {
    const { json } = await server.call('GET', '/job/api/bridges')
    return /^a message on \$aws\/things\/d1\/jobs\/.* was refused: .*Topic Name invalid/.test(
      json.items[0].lastError,
    )
  })
})
