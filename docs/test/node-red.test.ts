// The flow of docs/guides/react-in-node-red.md, without Node-RED: what its editor checks on import, and the function of the flow, which
// gets the events that a real broker delivers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openMosquitto, withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { openServer } from '@jobcast/testkit/open-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { connectAsync } from 'mqtt'
import { bridgeTo, whenConnected } from '../../server/test/gateway/bridge/bridge-under-test.ts'
import { blocksOf } from './markdown.ts'
import { readPage } from './pages.ts'

// biome-ignore lint/suspicious/noExplicitAny: each type of node has fields of its own
type FlowNode = Record<string, any>
type Message = {
  url?: string
  headers?: Record<string, string>
  payload: unknown
}

const flow = JSON.parse(readPage('docs/examples/node-red-flow.json')) as FlowNode[]

function nodeOf(type: string): FlowNode {
  const found = flow.filter((node) => node.type === type)
  assert.equal(found.length, 1, type)
  return found[0] as FlowNode
}

test('Node-RED can import the flow: ids, types, tabs, wires and the broker fit, and there is no secret in it', () => {
  assert.ok(Array.isArray(flow))
  const byId = new Map(flow.map((node) => [node.id, node]))
  assert.equal(byId.size, flow.length, 'ids are unique')
  for (const { id, type, z, x, y, wires, ...more } of flow) {
    assert.match(id, /^[0-9a-f]{16}$/)
    // All of them are there after an installation.
    assert.ok(['tab', 'mqtt-broker', 'mqtt in', 'function', 'http request', 'debug'].includes(type), type)
    assert.ok(!('credentials' in more))
    if (type === 'tab' || type === 'mqtt-broker') continue
    assert.equal(byId.get(z)?.type, 'tab')
    assert.ok(Number.isInteger(x) && Number.isInteger(y))
    const targets: FlowNode[] = wires.flat().map((target: string) => byId.get(target))
    assert.ok(targets.every((target) => target?.z === z))
  }
  assert.equal(byId.get(nodeOf('mqtt in').broker), nodeOf('mqtt-broker'))
  assert.deepEqual(nodeOf('mqtt in').wires, [[nodeOf('function').id]])
  assert.deepEqual(nodeOf('function').wires, [[nodeOf('http request').id]])
  assert.deepEqual(nodeOf('http request').wires, [[nodeOf('debug').id]])
  assert.doesNotMatch(JSON.stringify(flow), /j[cde]_\w/)
})

test('the guide shows the function of the flow', () => {
  const shown = blocksOf(readPage('docs/guides/react-in-node-red.md')).find(
    ({ language }) => language === 'js',
  )
  assert.equal(shown?.text.trimEnd(), nodeOf('function').func)
})

test('a failure that the broker delivers, even twice, makes one run; other events make none', {
  skip: withoutMosquitto,
}, async (t) => {
  const [{ topic, qos }, { clientid, cleansession }] = [nodeOf('mqtt in'), nodeOf('mqtt-broker')]
  const broker = await openMosquitto(t)
  const server = await openServer(t, { bridges: [bridgeTo(broker.url, { events: topic })] })
  await whenConnected(server)
  const nodeRed = await connectAsync(broker.url, { clientId: clientid, clean: cleansession })
  t.after(() => void nodeRed.end(true))
  const { apiKey } = (
    await server.call('POST', '/job/api/keys', { body: { keyName: 'node-red', scopes: ['TRIGGER'] } })
  ).json
  const environment: Record<string, string> = { JOBCAST_URL: server.http, JOBCAST_API_KEY: apiKey }
  const react = new Function('msg', 'env', nodeOf('function').func) as (
    msg: Message,
    env: { get(name: string): string | undefined },
  ) => Message | null

  const seen: string[] = []
  const statuses: number[] = []
  let sent = Promise.resolve()
  const deliver = async (bytes: Buffer) => {
    const request = react({ payload: JSON.parse(bytes.toString()) }, { get: (name) => environment[name] })
    if (!request) return
    const { url = '', headers = {}, payload } = request
    const { method } = nodeOf('http request')
    statuses.push((await fetch(url, { method, headers, body: JSON.stringify(payload) })).status)
  }
  nodeRed.on('message', (_topic, bytes) => {
    seen.push(bytes.toString())
    sent = sent.then(() => deliver(bytes)).then(() => deliver(bytes))
  })
  await nodeRed.subscribeAsync(topic, { qos: Number(qos) as 1 })

  const device = await newDevice(server, 'kiosk-7')
  await waitUntil('events are published', async () => {
    await server.call('PUT', '/job/api/jobs/restart', { body: { document: { tries: performance.now() } } })
    return seen.length > 0
  })
  await server.call('PUT', '/job/api/jobs/collect-logs', { body: { document: {} } })
  const failNext = async () => {
    const { json } = await device.startNext()
    const { status, text } = await device.update(Number(json.execution.jobId), 'FAILED')
    assert.equal(status, 200, text)
  }
  assert.equal((await server.trigger('restart', ['kiosk-7'])).status, 201)
  await failNext()
  const executions = async () =>
    (await server.call('GET', '/job/api/executions?jobName=collect-logs&deviceId=kiosk-7')).json.items
  await waitUntil('the flow has triggered', async () => (await executions()).length > 0)
  await failNext()
  const isItsFailure = (text: string) => text.includes('execution.failed') && text.includes('collect-logs')
  await waitUntil('its failure has arrived', () => seen.some(isItsFailure))
  await sent
  assert.deepEqual(statuses, [201, 201])
  assert.equal((await executions()).length, 1)
})
