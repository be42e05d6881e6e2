import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
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
