import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadBridge } from '@jobcast/server'
import { openMosquitto, withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { openServer } from '@jobcast/testkit/open-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { runJobcast, startJobcast } from './run-jobcast.ts'

test('jobcast sim registers and connects devices, carries out executions, and exits with 0', async (t) => {
  const { server, http, adminKey, call, trigger } = await openServer(t)
  await call('PUT', '/job/api/jobs/restart', { body: {} })
  const flags = ['--devices', '3', '--prefix', 'pump-', '--mqtt', server.mqtt, '--work-seconds', '0']
  const sim = startJobcast(t, ['sim', ...flags, '--failure-rate', '0', '--seed', '7'], {
    JOBCAST_URL: http,
    JOBCAST_API_KEY: adminKey,
  })
  await sim.untilError(/3 of 3 online, 0 working, 0 SUCCEEDED, 0 FAILED$/m)
  assert.match(sim.stderr(), /pump-1 to pump-3 are registered and connect to mqtt:\S+ \(seed 7\)/)
  const [{ jobExecutionId }] = (await trigger('restart', ['pump-3'])).json
  const { json } = await call('GET', `/job/api/executions/${jobExecutionId}?wait=60`)
  assert.equal(json.execState, 'SUCCEEDED')
  assert.equal(await sim.end('SIGINT'), 0)
  assert.equal(sim.stdout(), '')
  assert.doesNotMatch(sim.stderr(), /j[cd]_/)
})

test('jobcast sim --broker carries out executions over a broker, without tokens', {
  skip: withoutMosquitto,
}, async (t) => {
  const prefix = 'jobcast/things'
  const users = { jobcast: 'secret', 'sim-1': 'of the broker', 'sim-2': 'of the broker' }
  const acl = ['user jobcast', `topic ${prefix}/#`, `pattern readwrite ${prefix}/%u/#`]
  const { url } = await openMosquitto(t, { users, acl })
  const signIn = { JOBCAST_BRIDGE_USER: 'jobcast', JOBCAST_BRIDGE_PASSWORD: 'secret' }
  const { http, adminKey, call, trigger } = await openServer(t, {
    bridges: [loadBridge(url, prefix, signIn)],
  })
  await call('PUT', '/job/api/jobs/restart', { body: {} })
  const file = join(temporaryFolder(t), 'password')
  writeFileSync(file, 'of the broker\n')
  const onBroker = ['--broker', url, '--broker-prefix', prefix, '--broker-password-file', file]
  const work = ['--work-seconds', '0', '--failure-rate', '0']
  // The third has no user on the broker.
  const sim = startJobcast(t, ['sim', '--devices', '3', ...onBroker, ...work], {
    JOBCAST_URL: http,
    JOBCAST_API_KEY: adminKey,
  })
  await sim.untilError(/2 of 3 online, .* 1 rejected by the broker$/m)
  const { json } = await trigger('restart', ['sim-1', 'sim-2'])
  for (const { jobExecutionId } of json) {
    const ended = await call('GET', `/job/api/executions/${jobExecutionId}?wait=60`)
    assert.equal(ended.json.execState, 'SUCCEEDED')
  }
  const device = await call('GET', '/job/api/devices/sim-1')
  assert.deepEqual([device.json.transport, device.json.credentialCreatedAt], ['bridge', null])
  assert.equal(await sim.end('SIGINT'), 0)
})

test('jobcast sim says which flags of a broker do not fit together', async () => {
  const serve = ['--server', 'http://127.0.0.1:1', '--api-key', 'jc_x']
  const { code, stderr } = await runJobcast([
    ...['sim', ...serve, '--broker', 'ws://x', '--mqtt', 'mqtt://y', '--broker-user', 'fleet'],
    ...['--broker-prefix', 'a/#'],
  ])
  assert.equal(code, 2)
  assert.match(stderr, /^ {2}- --broker cannot be used together with --mqtt or --protocol ddi$/m)
  assert.match(stderr, /^ {2}- --broker: "ws:\/\/x" is not an address like mqtt:\/\/host:1883/m)
  assert.match(stderr, /^ {2}- --broker-prefix is "a\/#", not a topic such as \$aws\/things$/m)
  assert.match(stderr, /^ {2}- --broker-user needs --broker-password-file$/m)
  const alone = await runJobcast(['sim', ...serve, '--broker-user', 'fleet'])
  assert.match(
    alone.stderr,
    /^ {2}- --broker-prefix, --broker-user and --broker-password-file need --broker$/m,
  )
})

test('jobcast sim reports all problems with its flags together', async () => {
  const wrong = ['--devices', '0', '--work-seconds', '5-1', '--failure-rate', '2', '--output-lines', 'x']
  const { code, stderr } = await runJobcast(['sim', ...wrong, '--prefix', 'a/b', '--offline-seconds', '-'])
  assert.equal(code, 2)
  for (const flag of [
    'server',
    'api-key',
    'devices',
    'prefix',
    'work-seconds',
    'failure-rate',
    'output-lines',
    'offline-seconds',
  ]) {
    assert.match(stderr, new RegExp(`^ {2}- --${flag}`, 'm'))
  }
})

test('jobcast sim explains a wrong key and a wrong address in one sentence', async (t) => {
  const { http } = await openServer(t)
  const withKey = ['--api-key', 'jc_wrong']
  const refused = await runJobcast(['sim', '--server', http, ...withKey])
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /^jobcast: the simulation cannot start: The server answered 403 .*J-802/)
  const unreachable = await runJobcast(['sim', '--server', 'http://127.0.0.1:1', ...withKey])
  assert.equal(unreachable.code, 1)
  assert.match(unreachable.stderr, /^jobcast: the simulation cannot start: connect ECONNREFUSED/)
})
