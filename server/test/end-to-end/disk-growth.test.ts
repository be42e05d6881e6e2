// One device that reports progress, or sends output, as fast as it can: the growth of the disk is bounded, and the last report of
// the device is stored.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { MqttLine } from '@jobcast/testkit/mqtt-line'
import { openServer, type ServerOptions } from '@jobcast/testkit/open-server'
import { accepted, deviceFilters } from '@jobcast/testkit/simulated-device'
import { noQuotas } from '../../src/domain/access/quotas.ts'

const megabyte = 1024 * 1024

async function openRunning(t: TestContext, options: ServerOptions = {}) {
  const api = await openServer(t, options)
  await api.putJobAndDevices('restart', ['chatty'])
  const { json } = await api.call('POST', '/job/api/devices/chatty/credential')
  const line = await MqttLine.open(api.server.mqtt, { deviceId: 'chatty', token: json.deviceToken })
  t.after(() => line.cut())
  await line.subscribe(...deviceFilters)
  const [execution] = (await api.trigger('restart', ['chatty'])).json
  accepted(await line.request('start-next', {}))
  return { api, line, id: execution.jobExecutionId as number }
}

function bytesIn(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}

/** About 100 KB that do not compress. */
function largeDetails(step: string): Record<string, string> {
  const text = randomBytes(100 * 480).toString('hex')
  const entries = Array.from({ length: 100 }, (_, index) => [
    `d${index}`,
    text.slice(index * 960, index * 960 + 960),
  ])
  return { ...Object.fromEntries(entries.slice(1)), step }
}

test('50 MB of progress reports take up the space of a few; the newest and the end are kept', async (t) => {
  const { api, line, id } = await openRunning(t)
  const before = bytesIn(api.folder)
  const begun = performance.now()
  const count = 500
  for (let sent = 0; sent < count; sent += 10) {
    const statusDetails = Array.from({ length: 10 }, (_, index) => largeDetails(String(sent + index)))
    const answers = statusDetails.map((details) =>
      line.request(`${id}/update`, { status: 'IN_PROGRESS', statusDetails: details }),
    )
    for (const answer of await Promise.all(answers)) accepted(answer)
  }
  const seconds = Math.ceil((performance.now() - begun) / 1000)
  const { json } = await api.call('GET', `/job/api/executions/${id}`)
  assert.deepEqual([json.statusDetails.step, json.versionNumber], [String(count - 1), count + 2])
  accepted(await line.request(`${id}/update`, { status: 'SUCCEEDED' }))
  const grown = bytesIn(api.folder) - before
  t.diagnostic(`${Math.round(grown / megabyte)} MB in ${seconds} s`)
  // An event a second, beside the write-ahead log, which is used again and again.
  assert.ok(grown < (seconds * 0.2 + 24) * megabyte, `grew by ${grown} bytes in ${seconds} s`)
})

test('progress beyond its quota is rejected with the reason, and the final state is accepted', async (t) => {
  const quotas = { ...noQuotas, 'execution-reports': 3 }
  const { api, line, id } = await openRunning(t, { quotas })
  const progress = { status: 'IN_PROGRESS', statusDetails: { step: '1' } }
  accepted(await line.request(`${id}/update`, progress))
  const { outcome, json } = await line.request(`${id}/update`, progress)
  assert.deepEqual([outcome, json.code], ['rejected', 'InvalidRequest'])
  assert.equal(
    json.message,
    'Quota exceeded: at most 3 reports about one execution (quota execution-reports); report its final state.',
  )
  accepted(await line.request(`${id}/update`, { status: 'SUCCEEDED', statusDetails: { step: 'last' } }))
  const stored = (await api.call('GET', `/job/api/executions/${id}`)).json
  assert.deepEqual([stored.execState, stored.statusDetails.step], ['SUCCEEDED', 'last'])
})

test('output beyond what an owner may send in a day is cut, and says so', async (t) => {
  const { api, line, id } = await openRunning(t, { quotas: { ...noQuotas, 'owner-output-bytes': 5 } })
  for (const [offset, data] of [[0, 'abc'] as const, [3, 'def'] as const]) {
    await line.request(`${id}/output`, { offset, data })
  }
  const { text } = await api.call('GET', `/job/api/executions/${id}/output`)
  assert.match(text, /^abc\n\[jobcast: output cut after 3 bytes\]/)
})

test('output in single bytes ends with the last piece that is allowed, and says that it was cut', async (t) => {
  const { api, line, id } = await openRunning(t, { quotas: { ...noQuotas, 'output-pieces': 2 } })
  for (const [offset, data] of [...'abc'].entries()) await line.request(`${id}/output`, { offset, data })
  const { text } = await api.call('GET', `/job/api/executions/${id}/output`)
  assert.match(text, /^ab\n\[jobcast: output cut after 2 bytes\]/)
})
