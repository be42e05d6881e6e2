// Bridges as owners see them: their state, errors, and the position of their events.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Bridge } from '@jobcast/contract'
import type { Api } from '@jobcast/testkit/call-api'
import { withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { openServer } from '@jobcast/testkit/open-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { BrokerDevice, bridgeTo, openBridged } from './bridge-under-test.ts'

const options = { skip: withoutMosquitto }
/** An address without a listener. */
const nowhere = 'mqtt://127.0.0.1:1'

async function listed({ call }: Pick<Api, 'call'>, key?: string): Promise<Bridge[]> {
  const { status, json, text } = await call('GET', '/job/api/bridges', { ...(key && { key }) })
  assert.equal(status, 200, text)
  return json.items
}

async function whenListed(server: Pick<Api, 'call'>, isWanted: (bridge: Bridge) => unknown): Promise<Bridge> {
  let found: Bridge | undefined
  await waitUntil(
    () => `the bridge is as wanted, not ${JSON.stringify(found)}`,
    async () => {
      ;[found] = await listed(server)
      return found !== undefined && Boolean(isWanted(found))
    },
  )
  return found as Bridge
}

test('bridges are listed to the owner of their devices, by name and in pages, and to no other', async (t) => {
  const bridges = [
    bridgeTo(nowhere, { bridgeName: 'b2', clientId: 'two', events: 'jobcast/events' }),
    bridgeTo(nowhere, { bridgeName: 'b1', clientId: 'one' }),
    bridgeTo(nowhere, { bridgeName: 'CANARY', clientId: 'theirs', ownerName: 'other' }),
  ]
  const server = await openServer(t, { bridges })
  const { call, newOwner, newKey } = server
  const other = await newOwner('other')
  await whenListed(server, ({ state }) => state === 'down')
  const [b1, b2, ...more] = await listed(server)
  assert.ok(b1 && b2)
  assert.deepEqual([b1.bridgeName, b2.bridgeName, ...more], ['b1', 'b2'])
  assert.match(b1.lastError ?? '', /ECONNREFUSED/)
  assert.ok(b1.since && b1.lastErrorAt && b1.since <= b1.lastErrorAt, JSON.stringify(b1))
  assert.deepEqual([b1.events, b1.nodeNo, b1.devicesOnline, b1.lagMs], [null, null, 0, 0])
  assert.equal(b2.events?.topic, 'jobcast/events')

  const first = await call('GET', '/job/api/bridges?limit=1')
  const second = await call('GET', `/job/api/bridges?limit=1&cursor=${first.json.nextCursor}`)
  assert.deepEqual(
    [first, second].map(({ json }) => json.items[0].bridgeName),
    ['b1', 'b2'],
  )
  assert.equal(second.json.nextCursor, null)

  assert.deepEqual(
    (await listed(server, other.key)).map(({ bridgeName }) => bridgeName),
    ['CANARY'],
  )
  // Named like the id of the owner: that is not whose bridge it is.
  const { ownerId } = await newKey(['READ'])
  const imitator = await newOwner(ownerId)
  assert.deepEqual(await listed(server, imitator.key), [])
  for (const restriction of [{ jobs: ['any'] }, { where: 'tag=any' }]) {
    const { apiKey } = await newKey(['READ'], restriction)
    assert.equal((await call('GET', '/job/api/bridges', { key: apiKey })).json.code, 'J-814')
  }
})

test('a bridge is shown as it loses its broker and finds it again, with the error', options, async (t) => {
  const server = await openBridged(t)
  const { broker, putJobAndDevices } = server
  const connected = await whenListed(server, ({ state }) => state === 'connected')
  assert.deepEqual([connected.lastError, connected.lastErrorAt], [null, null])
  await putJobAndDevices('hello', ['d1', 'd2'])
  const device = await BrokerDevice.open(t, broker.url, 'd1')
  await device.request('jobs/get')
  const heard = await whenListed(server, ({ devicesOnline }) => devicesOnline === 1)
  assert.ok(heard.received >= 1 && heard.sent >= 1, JSON.stringify(heard))
  assert.equal(heard.since, connected.since)

  await broker.end('SIGKILL')
  const down = await whenListed(server, ({ state }) => state === 'down')
  assert.ok(down.lastError !== null && down.since !== null && connected.since !== null)
  assert.ok(down.since >= connected.since)
  await broker.start()
  const back = await whenListed(server, ({ state }) => state === 'connected')
  assert.ok(back.since !== null && back.since >= down.since)
  assert.notEqual(back.lastError, null, 'the error is kept')
})

test('events that the broker does not permit are shown as refused until it does', options, async (t) => {
  const acl = join(temporaryFolder(t), 'acl')
  const allow = (...rules: string[]) =>
    writeFileSync(acl, ['user jobcast', 'topic $aws/#', ...rules, ''].join('\n'), { mode: 0o600 })
  allow()
  const server = await openBridged(
    t,
    { user: 'jobcast', password: 'secret', events: 'jobcast/events' },
    {},
    { users: { jobcast: 'secret' }, settings: [`acl_file ${acl}`] },
  )
  const { broker, call } = server
  // Publishing begins with the first event after the cursor is there.
  const { events: before } = await whenListed(server, ({ events }) => typeof events?.cursor === 'number')
  await call('PUT', '/job/api/jobs/hello', { body: {} })
  const refused = await whenListed(server, ({ events }) => events?.failingSince)
  assert.equal(refused.state, 'connected')
  assert.equal(refused.lastError, 'events could not be published: Publish error: Not authorized')
  assert.equal(refused.events?.cursor, before?.cursor)

  allow('topic jobcast/events')
  broker.setPassword('jobcast', 'secret')
  const { events } = await whenListed(server, (bridge) => bridge.events?.failingSince === null)
  assert.ok((events?.cursor ?? 0) > (before?.cursor ?? 0))
  assert.equal(events?.leftOut, 0)
})

test(
  'an event that the broker finds too large is counted and named, and does not stop the others',
  options,
  async (t) => {
    const server = await openBridged(
      t,
      { events: 'jobcast/events' },
      {},
      // It does not say so when it is connected to.
      { settings: ['message_size_limit 1500'] },
    )
    const { call } = server
    await whenListed(server, ({ events }) => typeof events?.cursor === 'number')
    const tags = Array.from({ length: 40 }, (_, index) => `${index}-${'x'.repeat(50)}`)
    const { status } = await call('PUT', '/job/api/devices/large', { body: { tags } })
    assert.equal(status, 201)
    const { lastError, events } = await whenListed(server, (bridge) => bridge.events?.leftOut === 1)
    assert.match(lastError ?? '', /^event \d+ is left out: the broker rejected the message as too large$/)
    assert.equal(events?.failingSince, null)
    await call('PUT', '/job/api/devices/small', { body: {} })
    await whenListed(server, (bridge) => (bridge.events?.cursor ?? 0) > (events?.cursor ?? 0))
  },
)
