// Timers, retries and cancels with several nodes whose wall clocks are hours apart: each fires once, at its time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DeviceCalls, deviceCalls, newDevice } from '@jobcast/testkit/call-device'
import type { OpenServer } from '@jobcast/testkit/open-server'
import { execute } from '@jobcast/testkit/postgres-server'
import { testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { within } from '@jobcast/testkit/within'
import { openNodes } from './open-nodes.ts'

const leastSeconds = 3
const mostSeconds = 20
const copies = testSize('copies', { test: 2, chaos: 4 })
/** A clock fires within two seconds of its time; a busy machine gets more. */
const lateMs = 45_000
const hour = 60 * 60_000
const skews = [hour, 0, -hour]

type Step = (device: (node: number) => DeviceCalls, id: number, nodes: OpenServer[]) => Promise<unknown>
type Scenario = { name: string; job: object; begin: Step; history: string[]; after?: number }

const start: Step = async (device) => {
  assert.equal((await device(1).startNext()).json.execution.status, 'IN_PROGRESS')
}

const scenariosOf = (seconds: number): Scenario[] => [
  {
    name: 'expire',
    job: { expireAfterSeconds: seconds },
    begin: async () => {},
    history: ['expire EXPIRED 1'],
  },
  {
    name: 'time-out',
    job: { timeoutSeconds: seconds },
    begin: start,
    history: ['start IN_PROGRESS 1', 'time-out TIMED_OUT 1'],
  },
  {
    name: 'deadline',
    job: { deadlineSeconds: seconds, timeoutSeconds: 60 },
    begin: start,
    history: ['start IN_PROGRESS 1', 'miss-deadline TIMED_OUT 1'],
  },
  {
    name: 'expire-retry',
    job: { expireAfterSeconds: seconds, retry: { max: 1, backoffSeconds: 0 } },
    begin: async (device, id, nodes) => {
      await start(device, id, nodes)
      assert.equal((await device(2).update(id, 'FAILED')).status, 200)
    },
    history: ['start IN_PROGRESS 1', 'retry PENDING 1', 'expire EXPIRED 2'],
  },
  {
    name: 'cancel',
    job: { timeoutSeconds: 60 },
    begin: async (device, id, nodes) => {
      await start(device, id, nodes)
      const { json } = await (nodes[2] as OpenServer).call('POST', `/job/api/executions/${id}/cancel`)
      assert.equal(json.execState, 'CANCELING')
    },
    history: ['start IN_PROGRESS 1', 'cancel CANCELING 1', 'overrun-cancel CANCELED 1'],
    after: leastSeconds,
  },
]

test('each clock fires once and at its time, though the clocks on the walls of the nodes are an hour apart', async (t) => {
  const opened = performance.now()
  const { nodes } = await openNodes(t, 3, { cancelDeadlineSeconds: leastSeconds }, (index) => ({
    now: () => Date.now() + (skews[index] as number),
  }))
  // On a machine so busy that opening takes long, what must happen before a clock fires does too.
  const needed = Math.ceil((2 * (performance.now() - opened)) / 1000)
  const seconds = Math.min(Math.max(needed, leastSeconds), mostSeconds)
  const at = (index: number) => nodes[index % nodes.length] as OpenServer
  const all = scenariosOf(seconds).flatMap((scenario, index) =>
    Array.from({ length: copies }, (_, copy) => ({
      ...scenario,
      id: `${scenario.name}-${copy}`,
      place: index + copy,
    })),
  )
  const tokens = await Promise.all(
    all.map(async ({ id, job, place }) => {
      assert.equal((await at(place).call('PUT', `/job/api/jobs/${id}`, { body: job })).status, 201)
      return (await newDevice(at(place), id)).token
    }),
  )
  // Each begins at another node, and several of a kind: all nodes see them fall due at about the same time.
  const late = await Promise.all(
    all.map(async ({ id, place, begin, history, after = seconds }, index) => {
      const device = (node: number) => deviceCalls(at(node + place).http, id, tokens[index] as string)
      const begun = performance.now()
      const [{ jobExecutionId }] = (await at(place).trigger(id, [id])).json
      await begin(device, jobExecutionId, nodes)
      const begunBy = performance.now()
      const path = `/job/api/executions/${jobExecutionId}`
      const { json } = await within(
        lateMs,
        `${id} does not fire`,
        at(place + 1).call('GET', `${path}?wait=60`),
      )
      const now = performance.now()
      assert.notEqual(json.finishedAt, null)
      assert.ok(now - begun >= after * 1000 - 1, `${id} fired after ${now - begun} ms`)
      const { items } = (await at(place + 2).call('GET', `${path}/history`)).json
      const told = items
        .slice(1)
        .map((step: Record<string, string>) => `${step.event} ${step.to} ${step.attempt}`)
      assert.deepEqual(told, history, id)
      return now - begunBy - after * 1000
    }),
  )
  t.diagnostic(`the latest of ${late.length} fired ${Math.round(Math.max(...late))} ms after its time`)
})

test('one Idempotency-Key makes one run, though the wall clocks of the nodes are days apart', async (t) => {
  const { nodes } = await openNodes(t, 3, {}, (index) => ({
    now: () => Date.now() + (index - 1) * 48 * hour,
  }))
  const [first, ...others] = nodes as [OpenServer, ...OpenServer[]]
  await first.putJobAndDevices('restart', ['d1'])
  const headers = { 'idempotency-key': 'k' }
  const { text } = await first.trigger('restart', ['d1'], { headers })
  for (const node of [...others, first, ...others]) {
    assert.equal((await node.trigger('restart', ['d1'], { headers })).text, text)
  }
  assert.equal((await first.call('GET', '/job/api/runs')).json.items.length, 1)
})

test('a node whose clock is an hour ahead shows the time of the others, and takes no device offline', async (t) => {
  let passed = 0
  const { nodes, databaseUrl } = await openNodes(t, 2, {}, (index) =>
    index === 0 ? { now: () => Date.now() + hour, elapsed: () => performance.now() + passed } : {},
  )
  const [wrong, right] = nodes as [OpenServer, OpenServer]
  const { token } = await newDevice(wrong, 'd1')
  const silent = await newDevice(wrong, 'silent')
  const device = (node: OpenServer) => deviceCalls(node.http, 'd1', token)
  await silent.call('GET', '')
  await device(wrong).call('GET', '')
  const read = async (id: string) => (await right.call('GET', `/job/api/devices/${id}`)).json
  const seenBy = async (node: OpenServer) =>
    Date.parse((await node.call('GET', '/job/api/devices/d1')).json.lastSeenAt)
  assert.ok(Math.abs((await seenBy(wrong)) - Date.now()) < hour / 2, 'it shows its own time')
  await device(right).call('GET', '')
  // Nodes record once a second whom they have heard.
  const heardBy = 'SELECT count(DISTINCT node_no)::int AS nodes FROM device'
  await waitUntil(
    'the other node records that it has heard the device',
    async () => (await execute(databaseUrl, heardBy))[0]?.nodes === 2,
  )
  // For the one with the wrong clock both have been silent for long; the other has heard one of them since.
  passed += 61_000
  await waitUntil('the silence is noticed', async () => !(await read('silent')).online)
  assert.equal((await read('d1')).online, true)
  const offline = `SELECT device_id FROM event JOIN device USING (device_no) WHERE type = 'device.offline'`
  assert.deepEqual(
    (await execute(databaseUrl, offline)).map((row) => row.device_id),
    ['silent'],
  )
})
