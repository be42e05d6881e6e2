// jobcast bridges, of a service whose broker is not there.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { runJobcast } from './run-jobcast.ts'

test('lists bridges with their state and last error', async (t) => {
  const bridge = {
    ...{ bridgeName: 'berlin', url: 'mqtt://127.0.0.1:1', clientId: 'test', ownerName: 'default' },
    ...{ prefix: '$aws/things', silenceMs: 600_000, enroll: false, events: 'jobcast/events' },
  }
  const { http, adminKey, call } = await openServer(t, { bridges: [bridge] })
  const env = { JOBCAST_URL: http, JOBCAST_API_KEY: adminKey }
  await waitUntil('it is down', async () => {
    const { json } = await call('GET', '/job/api/bridges')
    return json.items[0].state === 'down' && json.items[0].events.cursor !== null
  })
  const { code, stdout } = await runJobcast(['bridges'], env)
  assert.equal(code, 0)
  assert.match(stdout, /^BRIDGE +STATE +SINCE +DEVICES +LAG +EVENTS +NODE +LAST ERROR$/m)
  assert.match(stdout, /^berlin +down +\S+ \S+ +0 +0 ms +up to \d+ +- +\S+ \S+: .*ECONNREFUSED/m)
  const { stdout: json } = await runJobcast(['bridges', 'ls', '--json'], env)
  assert.match(json, /"bridgeName": ?"berlin"/)
})
