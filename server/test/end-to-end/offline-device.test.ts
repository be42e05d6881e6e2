// A device that was offline during a trigger and a kill of the server gets its execution when it reconnects.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceCalls } from '@jobcast/testkit/call-device'
import { type Json, MqttLine } from '@jobcast/testkit/mqtt-line'
import { openServer } from '@jobcast/testkit/open-server'
import { RestartingServer } from '@jobcast/testkit/restarting-server'
import { accepted, deviceFilters } from '@jobcast/testkit/simulated-device'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { within } from '@jobcast/testkit/within'
import { seedData } from '../support/seed-data.ts'
import { seedTokens } from '../support/seed-tokens.ts'

// The guarantee is 2 s; this bound also holds on a busy machine.
const boundMs = 45_000

type Addresses = { mqtt: string; http: string }

const byMqtt =
  (version: 4 | 5, transport: 'mqtt' | 'http') =>
  async (server: Addresses, deviceId: string, token: string) => {
    const line = await MqttLine.open(server[transport], { deviceId, token, version })
    try {
      const told = new Promise<Json>((resolve) => {
        line.onNotice = (suffix, { execution }) => {
          if (suffix === 'notify-next') resolve(execution)
        }
      })
      await line.subscribe(...deviceFilters)
      const notified = await told
      const started = accepted(await line.request('start-next', {})).execution
      assert.deepEqual([notified.jobId, notified.status], [started.jobId, 'QUEUED'])
      return started
    } finally {
      line.cut()
    }
  }

/** By whichever transport a device comes, what it has started when it is back. */
const transports: [string, (server: Addresses, deviceId: string, token: string) => Promise<Json>][] = [
  ['mqtt-3', byMqtt(4, 'mqtt')],
  ['mqtt-5', byMqtt(5, 'mqtt')],
  ['websocket', byMqtt(5, 'http')],
  [
    'long-poll',
    async (server, deviceId, token) => {
      const device = deviceCalls(server.http, deviceId, token)
      const { queuedJobs } = (await device.call('GET', '?wait=60')).json
      const { execution } = (await device.startNext()).json
      assert.equal(queuedJobs[0].jobId, execution.jobId)
      return execution
    },
  ],
]

test('a device that was offline during the trigger and a kill of the server gets its execution within 2 s of its return', async (t) => {
  const folder = newTemporaryFolder()
  const deviceIds = transports.map(([transport]) => transport)
  await seedData(folder, { jobs: ['restart'], deviceIds })
  const tokens = seedTokens(folder, deviceIds)
  const server = new RestartingServer(folder)
  t.after(() => server.end())
  const triggered = (await (await server.running()).trigger('restart', deviceIds)).json
  const next = await server.killAndStart()
  const times: string[] = []
  for (const [index, [transport, comeBack]] of transports.entries()) {
    const begun = performance.now()
    const returning = comeBack(next, transport, tokens.get(transport) as string)
    const execution = await within(boundMs, `nothing came by ${transport}`, returning)
    times.push(`${transport} ${Math.round(performance.now() - begun)} ms`)
    assert.equal(execution.jobId, String(triggered[index].jobExecutionId))
    assert.deepEqual([execution.status, execution.versionNumber], ['IN_PROGRESS', 2])
  }
  t.diagnostic(`back at work after: ${times.join(', ')}`)

  // What it has started is its own after the next kill too.
  await server.kill()
  const last = await openServer(t, { dataFolder: folder })
  removeAfter(t, folder)
  for (const [index, transport] of deviceIds.entries()) {
    const device = deviceCalls(last.http, transport, tokens.get(transport) as string)
    const { execution } = (await device.startNext()).json
    assert.equal(execution.jobId, String(triggered[index].jobExecutionId))
    assert.deepEqual([execution.status, execution.versionNumber], ['IN_PROGRESS', 2])
    assert.equal((await device.update(execution.jobId, 'SUCCEEDED')).status, 200)
  }
  const { items } = (await last.call('GET', '/job/api/runs')).json
  assert.deepEqual([items[0].finished, items[0].counts.SUCCEEDED], [true, transports.length])
})
