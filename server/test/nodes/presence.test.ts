// Presence is correct on all nodes, whatever happens to the node of a device.
// "npm run test:nodes" pauses a node for 30 s.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Api } from '@jobcast/testkit/call-api'
import { type DeviceCalls, deviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { MqttLine } from '@jobcast/testkit/mqtt-line'
import type { OpenServer } from '@jobcast/testkit/open-server'
import { execute } from '@jobcast/testkit/postgres-server'
import type { RestartingServer } from '@jobcast/testkit/restarting-server'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { within } from '@jobcast/testkit/within'
import { connectDevice, isNext } from './connected-device.ts'
import { openNodes } from './open-nodes.ts'
import { type Node, nodeNumbers, spawnNodes, standStill, until } from './spawn-nodes.ts'

/** A node stands still for so long at least: until the others count it as gone, which takes ten seconds. */
const pauseMs = 1000 * testSize('pauseSeconds', { test: 1, chaos: 20 })
const boundMs = 90_000

async function online(api: Api): Promise<string> {
  const { items } = (await api.call('GET', '/job/api/devices?online=true&limit=200')).json
  return items.map(({ deviceId }: { deviceId: string }) => deviceId).join()
}

/** What was notified of the device, in order. */
async function toldOf(databaseUrl: string, deviceId: string): Promise<string> {
  const rows = await execute(
    databaseUrl,
    `SELECT type FROM event JOIN device USING (device_no)
     WHERE device_id = '${deviceId}' AND type IN ('device.online', 'device.offline') ORDER BY event_id`,
  )
  return rows.map(({ type }) => (type as string).slice('device.'.length)).join(' ')
}

/** How often a node was taken out from now on: on a busy machine a node that was just woken may be taken out once more. */
async function countRemovals(databaseUrl: string): Promise<() => Promise<number>> {
  await execute(databaseUrl, 'CREATE TABLE removed_node (node_no integer)')
  await execute(
    databaseUrl,
    `CREATE FUNCTION note_removed() RETURNS trigger LANGUAGE plpgsql
     AS $$ BEGIN INSERT INTO removed_node VALUES (OLD.node_no); RETURN NULL; END $$`,
  )
  await execute(
    databaseUrl,
    'CREATE TRIGGER removed AFTER DELETE ON node FOR EACH ROW EXECUTE FUNCTION note_removed()',
  )
  return async () => (await execute(databaseUrl, 'SELECT node_no FROM removed_node')).length
}

async function connectAll(t: TestContext, address: string, devices: DeviceCalls[]): Promise<MqttLine[]> {
  const lines = await Promise.all(devices.map((device) => MqttLine.open(address, device)))
  t.after(() => lines.map((line) => line.cut()))
  return lines
}

const named = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index}`)

test('a node as a program, next to others', longTest, async (t) => {
  const { databaseUrl, nodes, beside } = await spawnNodes(t, 1, { beside: 2 })
  const [node] = nodes as [RestartingServer]
  const victim = await node.running()
  const [one, two] = beside as [Node, Node]
  await one.putJobAndDevices('restart', [])
  const make = (ids: string[]) => Promise.all(ids.map((id) => newDevice(one, id)))

  await t.test(
    `it is paused for ${pauseMs} ms or longer: devices that stayed are offline meanwhile, devices that moved are not`,
    async (t) => {
      const staying = named('stays', 10)
      const leaving = named('leaves', 10)
      const [stay, leave] = [await make(staying), await make(leaving)]
      const stayed = await connectAll(t, victim.mqtt, stay)
      const left = await connectAll(t, victim.mqtt, leave)
      const all = [...leaving, ...staying].sort().join()
      await until('all are online', async () => (await online(one)) === all)
      const before = await nodeNumbers(databaseUrl)
      const removals = await countRemovals(databaseUrl)
      const moved: MqttLine[] = []
      const isOut = async () => (await nodeNumbers(databaseUrl)).length < before.length
      await standStill(node, pauseMs, async () => {
        moved.push(...(await connectAll(t, one.mqtt, leave)))
        await until('it is taken out', isOut)
        await until('who stayed is offline', async () => (await online(one)) === leaving.join())
      })
      const onlineMs = await until('who stayed is online', async () => (await online(one)) === all, boundMs)
      // Both nodes say so, and what was left behind is closed.
      assert.equal(await online(victim), all)
      await within(boundMs, 'old sessions stay open', Promise.all(left.map((line) => line.closed)))
      assert.ok([...stayed, ...moved].every((line) => !line.isClosed))
      await until('who stayed is still online', async () => (await online(one)) === all, boundMs)
      const told = `online${' offline online'.repeat(await removals())}`
      for (const id of staying) assert.equal(await toldOf(databaseUrl, id), told, id)
      for (const id of leaving) assert.equal(await toldOf(databaseUrl, id), 'online', id)
      t.diagnostic(`right again ${onlineMs} ms after it was woken`)
    },
  )
  await until('they are offline', async () => (await online(one)) === '')

  await t.test(
    'it is killed: its devices are offline within seconds, and online after reconnecting to another node',
    async (t) => {
      const ids = named('killed', 20)
      const devices = await make(ids)
      const [stays] = await make(['stays'])
      await connectAll(t, one.mqtt, [stays as DeviceCalls])
      const lines = await connectAll(t, victim.mqtt, devices)
      const all = [...ids, 'stays'].sort().join()
      await until('all are online', async () => (await online(one)) === all)
      await node.kill()
      await Promise.all(lines.map((line) => line.closed))
      const offlineMs = await until('they are offline', async () => (await online(one)) === 'stays', boundMs)
      await connectAll(t, two.mqtt, devices)
      const onlineMs = await until('they are back', async () => (await online(one)) === all, boundMs)
      for (const id of ids) assert.equal(await toldOf(databaseUrl, id), 'online offline online', id)
      assert.equal(await toldOf(databaseUrl, 'stays'), 'online')
      t.diagnostic(`offline ${offlineMs} ms after the kill, online ${onlineMs} ms after they came back`)
    },
  )
})

test('nodes in one process', async (t) => {
  const { databaseUrl, nodes } = await openNodes(t, 3)
  const [one] = nodes as [OpenServer]
  await one.putJobAndDevices('restart', [])

  await t.test('a device that polls all nodes is online at all of them, with one event', async () => {
    const { token } = await newDevice(one, 'asks')
    for (let round = 0; round < 12; round++) {
      const { http } = nodes[round % nodes.length] as OpenServer
      assert.equal((await deviceCalls(http, 'asks', token).call('GET', '?wait=0')).status, 200)
    }
    for (const node of nodes) assert.equal(await online(node), 'asks')
    assert.equal(await toldOf(databaseUrl, 'asks'), 'online')
  })

  await t.test('a device that repeatedly moves between nodes is never reported as offline', async (t) => {
    const device = await newDevice(one, 'd1')
    let line: MqttLine | undefined
    for (let round = 0; round < 12; round++) {
      const { server } = nodes[round % nodes.length] as OpenServer
      const next = await connectDevice(t, server.mqtt, device)
      if (line) await within(boundMs, 'the one before stays open', line.closed)
      line = next.line
    }
    // Nothing tells that a node will not say something: it says that a device which moved came to no other after 3 s.
    await delay(4000)
    assert.equal(line?.isClosed, false)
    for (const node of nodes) assert.ok((await online(node)).split(',').includes('d1'))
    assert.equal(await toldOf(databaseUrl, 'd1'), 'online')
    await one.trigger('restart', ['d1'])
    const last = await connectDevice(t, one.server.mqtt, device)
    await within(boundMs, 'it is notified of what waits', last.notice(isNext))
  })
})
