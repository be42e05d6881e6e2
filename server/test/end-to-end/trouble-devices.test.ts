// A full and a failing disk, as seen by devices: reports that cannot be stored are not acknowledged, and accepted afterwards.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { deviceCalls } from '@jobcast/testkit/call-device'
import { disturbDisk } from '@jobcast/testkit/disturb-disk'
import { type Json, MqttLine } from '@jobcast/testkit/mqtt-line'
import { accepted, deviceFilters } from '@jobcast/testkit/simulated-device'
import { type SpawnOptions, startProgram } from '@jobcast/testkit/spawn-server'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { within } from '@jobcast/testkit/within'
import { deviceIdsUpTo, seedData } from '../support/seed-data.ts'
import { seedTokens } from '../support/seed-tokens.ts'

const failsafeMs = 90_000
const unspecifiedError = 0x83

const filters = ['get/+', ...deviceFilters]
const many = deviceIdsUpTo(1000)

async function open(t: TestContext, options: SpawnOptions = {}) {
  const folder = newTemporaryFolder()
  const deviceIds = ['new', 'old', 'http', 'late']
  await seedData(folder, { jobs: ['restart'], deviceIds: [...deviceIds, ...many] })
  const tokens = seedTokens(folder, deviceIds)
  const begun = performance.now()
  const server = await startProgram(folder, options).ready
  // Its clock must run out after strace is attached, and a program takes longer to start than that.
  const timeoutSeconds = Math.ceil((performance.now() - begun) / 1000)
  t.after(() => server.end('SIGKILL'))
  removeAfter(t, folder)
  await server.call('PUT', '/job/api/jobs/short', { body: { timeoutSeconds } })
  const tokenOf = (deviceId: string) => tokens.get(deviceId) as string
  const connect = async (deviceId: string, version: 4 | 5) => {
    const line = await MqttLine.open(server.mqtt, { deviceId, version, token: tokenOf(deviceId) })
    t.after(() => line.cut())
    await line.subscribe(...filters)
    return line
  }
  return { server, connect, http: deviceCalls(server.http, 'http', tokenOf('http')) }
}

type Opened = Awaited<ReturnType<typeof open>>
type Started = { modern: MqttLine; old: MqttLine; ids: Record<'new' | 'old' | 'http' | 'late', number> }

async function startAll({ server, connect, http }: Opened): Promise<Started> {
  const modern = await connect('new', 5)
  const old = await connect('old', 4)
  const triggered = (await server.trigger('restart', ['new', 'old', 'http'])).json
  const [late] = (await server.trigger('short', ['late'])).json
  const lateLine = await connect('late', 5)
  for (const line of [modern, old, lateLine]) accepted(await line.request('start-next', {}))
  await http.startNext()
  const [forNew, forOld, forHttp] = triggered.map((each: Json) => each.jobExecutionId)
  return { modern, old, ids: { new: forNew, old: forOld, http: forHttp, late: late.jobExecutionId } }
}

const progress = { status: 'IN_PROGRESS', statusDetails: { step: '1' } }

/** While nothing can be written. */
async function assertNotKept({ http, connect }: Opened, { modern, old, ids }: Started): Promise<void> {
  const requests: [string, object][] = [
    [`${ids.new}/update`, progress],
    [`${ids.new}/update`, { status: 'SUCCEEDED' }],
    [`${ids.new}/output`, { offset: 0, data: 'text' }],
  ]
  for (const [suffix, fields] of requests) {
    const { outcome, json } = await modern.request(suffix, fields)
    assert.deepEqual([outcome, json.code], ['rejected', 'InternalError'])
    assert.equal(await modern.publish(suffix, fields), unspecifiedError)
  }
  // MQTT 3.1.1 has no word for it: what is not acknowledged is sent again when the device is back.
  let isAcknowledged = false
  old.publish(`${ids.old}/update`, progress).then(
    () => {
      isAcknowledged = true
    },
    () => undefined,
  )
  const { outcome, json } = await old.request(`${ids.old}/update`, progress)
  assert.deepEqual([outcome, json.code, isAcknowledged], ['rejected', 'InternalError', false])

  const reply = await http.update(ids.http, 'SUCCEEDED')
  assert.deepEqual(
    [reply.status, reply.headers.get('x-amzn-errortype')],
    [503, 'ServiceUnavailableException'],
  )
  assert.ok(Number(reply.headers.get('retry-after')) > 0)

  // Reads continue, and whoever comes is let in.
  const pending = accepted(await modern.request('get', {}))
  assert.deepEqual(
    pending.inProgressJobs.map((each: Json) => [Number(each.jobId), each.versionNumber]),
    [[ids.new, 2]],
  )
  assert.equal((await http.call('GET', '')).status, 200)
  const again = await connect('old', 4)
  assert.equal(accepted(await again.request('get', {})).inProgressJobs[0].versionNumber, 2)
}

/** What was not acknowledged is sent again, and counts once. */
async function assertKept(opened: Opened, { modern, ids }: Started, pid: number): Promise<void> {
  const { server, connect, http } = opened
  const old = await connect('old', 4)
  for (const [line, id] of [
    [modern, ids.new],
    [old, ids.old],
  ] as const) {
    const update = { ...progress, includeJobExecutionState: true }
    let answer = await line.request(`${id}/update`, update)
    // What was found may be good for a moment longer.
    const isTaken = async () => {
      if (answer.json.code === 'InternalError') answer = await line.request(`${id}/update`, update)
      return answer.json.code !== 'InternalError'
    }
    await waitUntil('the update is taken', isTaken, { intervalMs: 50 })
    assert.equal(accepted(answer).executionState.versionNumber, 3)
    assert.equal(await line.publish(`${id}/output`, { offset: 0, data: 'text' }), 0)
    assert.equal(await line.publish(`${id}/update`, { status: 'SUCCEEDED' }), 0)
  }
  assert.equal((await http.update(ids.http, 'SUCCEEDED')).status, 200)
  for (const [name, state, version] of [
    ['new', 'SUCCEEDED', 4],
    ['old', 'SUCCEEDED', 4],
    ['http', 'SUCCEEDED', 3],
    ['late', 'TIMED_OUT', 3],
  ] as const) {
    const reading = server.call('GET', `/job/api/executions/${ids[name]}?wait=60`)
    const { execState, versionNumber } = (await within(failsafeMs, `${name} does not end`, reading)).json
    assert.deepEqual([name, execState, versionNumber], [name, state, version])
  }
  // Devices that stayed connected are notified of new executions.
  const told = new Promise((resolve) => {
    modern.onNotice = (suffix, { execution }) => {
      if (suffix === 'notify-next' && execution) resolve(Number(execution.jobId))
    }
  })
  const [{ jobExecutionId }] = (await server.trigger('restart', ['new'])).json
  assert.equal(await within(failsafeMs, 'it is not told', told), jobExecutionId)
  assert.equal((await server.call('POST', `/job/api/executions/${jobExecutionId}/cancel`)).status, 200)
  const { text } = await server.call('GET', '/metrics')
  assert.match(text, /^jobcast_device_failures_total 0$/m)
  assert.match(text, /^jobcast_http_failures_total 0$/m)
  assert.deepEqual([server.pid, server.process.exitCode], [pid, null])
}

const faults: [string, Record<string, string>][] = [
  ['has no space left', { pwrite64: 'error=ENOSPC' }],
  ['cannot be synced', { fsync: 'error=EIO', fdatasync: 'error=EIO' }],
]
const isLinux = process.platform === 'linux'
// 2 MiB in blocks of 512 bytes. Node ignores SIGXFSZ, so that SQLite gets an error instead.
const before = ['sh', '-c', 'ulimit -S -f 4096; exec "$@"', 'sh']

test('one disk after the other', async (all) => {
  let opened = await open(all, isLinux ? { before } : {})

  await all.test(
    'when no file can grow, reports are rejected with InternalError, and accepted once they can',
    { skip: !isLinux && 'the limit of a running process can be set on Linux only' },
    async (t) => {
      const { server } = opened
      const started = await startAll(opened)
      let reply = await server.trigger('restart', many)
      while (reply.status === 201) reply = await server.trigger('restart', many)
      assert.equal(reply.status, 503)
      // A smaller write may still find room, until not even the smallest does.
      do reply = await server.call('PUT', '/job/api/devices/device-9', { body: {} })
      while (reply.status === 200)
      await within(failsafeMs, 'a request is not answered', assertNotKept(opened, started))
      const { status } = spawnSync('prlimit', ['--pid', String(server.pid), '--fsize=unlimited'])
      if (status === 0) {
        await within(failsafeMs, 'a request is not answered', assertKept(opened, started, server.pid))
      } else {
        opened = await open(all)
        t.skip('prlimit is not there')
      }
    },
  )

  for (const [trouble, calls] of faults) {
    await all.test(
      `when it ${trouble}, reports are rejected with InternalError, and accepted afterwards`,
      (t) => disturb(t, opened, calls),
    )
  }
})

async function disturb(t: TestContext, opened: Opened, calls: Record<string, string>): Promise<void> {
  const { pid } = opened.server
  const started = await startAll(opened)
  const { lines } = opened.server.output
  const before = countOf(lines)
  const disk = await disturbDisk(pid, calls)
  if (typeof disk === 'string') return t.skip(disk)
  await within(failsafeMs, 'a request is not answered', assertNotKept(opened, started))
  // The clock of one execution runs out meanwhile, and that cannot be written either.
  await waitUntil('its clock runs out', () => countOf(lines) > before)
  await disk.end()
  await within(failsafeMs, 'a request is not answered', assertKept(opened, started, pid))
}

const countOf = (lines: string[]) => lines.filter((line) => line.includes('fire clocks')).length
