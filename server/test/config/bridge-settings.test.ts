import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { loadConfig } from '../../src/config/config.ts'
import { ConfigError } from '../../src/config/config-error.ts'

test('without a broker there is no bridge', () => {
  assert.deepEqual(loadConfig({}, {}).bridges, [])
})

test('one bridge by flags, with secrets from files', (t) => {
  const folder = temporaryFolder(t)
  const file = join(folder, 'password')
  writeFileSync(file, 'secret\n')
  const flags = { bridge: 'mqtts://broker:8883', 'bridge-silence': '60', 'bridge-enroll': true }
  const env = { JOBCAST_BRIDGE_USER: 'jobcast', JOBCAST_BRIDGE_PASSWORD_FILE: file }
  const [bridge] = loadConfig(flags, env).bridges
  const { clientId, ...rest } = bridge ?? { clientId: '' }
  assert.match(clientId, /^jobcast-[0-9a-f]{14}$/)
  assert.deepEqual(rest, {
    ...{ bridgeName: 'b1', url: 'mqtts://broker:8883', user: 'jobcast', password: 'secret' },
    ...{ ca: undefined, cert: undefined, key: undefined, ownerName: 'default', prefix: '$aws/things' },
    ...{ silenceMs: 60_000, enroll: true, events: undefined },
  })
})

test('several bridges by the file; what one does not set is that of the other settings', (t) => {
  const folder = temporaryFolder(t)
  const file = join(folder, 'config.yaml')
  const password = join(folder, 'password')
  writeFileSync(password, 'secret')
  writeFileSync(
    file,
    [
      'bridge-prefix: fleet/things',
      'bridge:',
      '  berlin: { url: "mqtt://berlin:1883", owner: berlin, enroll: true, silence: 30 }',
      `  paris: { url: "wss://paris/mqtt", prefix: p, user: u, password-file: ${password}, client-id: c, events: jobcast/events }`,
    ].join('\n'),
  )
  const [berlin, paris] = loadConfig({ config: file }, {}).bridges
  assert.deepEqual(
    [berlin?.bridgeName, berlin?.ownerName, berlin?.prefix, berlin?.silenceMs, berlin?.enroll],
    ['berlin', 'berlin', 'fleet/things', 30_000, true],
  )
  assert.deepEqual(
    [paris?.prefix, paris?.user, paris?.password, paris?.clientId, paris?.events, paris?.enroll],
    ['p', 'u', 'secret', 'c', 'jobcast/events', false],
  )
  assert.notEqual(berlin?.clientId, paris?.clientId)
  assert.equal(loadConfig({ config: file, bridge: 'mqtt://other' }, {}).bridges.length, 1, 'a flag wins')
})

const refused: [Record<string, string>, NodeJS.ProcessEnv, RegExp][] = [
  [{ bridge: 'http://broker' }, {}, /must have the form mqtts:/],
  [{ bridge: 'broker:1883' }, {}, /must have the form mqtts:/],
  [{ bridge: 'mqtt://user:secret@broker' }, {}, /must not have a user or password/],
  [{ bridge: 'mqtt://b', 'bridge-prefix': 'a/+/b' }, {}, /prefix/],
  [{ bridge: 'mqtt://b', 'bridge-prefix': 'a/' }, {}, /prefix/],
  [{ bridge: 'mqtt://b', 'bridge-events': 'a/#' }, {}, /topic for events/],
  [{ bridge: 'mqtt://b', 'bridge-silence': '0' }, {}, /bridge-silence/],
  [{ bridge: 'mqtts://b' }, { JOBCAST_BRIDGE_PASSWORD: 'secret' }, /its password has no user/],
  [
    { bridge: 'mqtt://b' },
    { JOBCAST_BRIDGE_USER: 'u', JOBCAST_BRIDGE_PASSWORD: 'secret' },
    /would be sent in clear text/,
  ],
  [{ bridge: 'ws://[::2]' }, { JOBCAST_BRIDGE_USER: 'u', JOBCAST_BRIDGE_PASSWORD: 'secret' }, /clear text/],
  [{ bridge: 'mqtt://b' }, { JOBCAST_BRIDGE_CERT: 'x', JOBCAST_BRIDGE_KEY: 'y' }, /no effect without TLS/],
  [{ bridge: 'mqtts://b' }, { JOBCAST_BRIDGE_CERT: 'x' }, /set together/],
  [{ bridge: 'mqtts://b' }, { JOBCAST_BRIDGE_CERT: 'x', JOBCAST_BRIDGE_KEY: 'y' }, /cannot be used/],
]
for (const [flags, env, problem] of refused) {
  test(`${JSON.stringify(flags)} ${Object.keys(env)} is refused`, () => {
    assert.throws(
      () => loadConfig(flags, env),
      (error) => {
        assert.ok(error instanceof ConfigError)
        assert.match(error.message, problem)
        assert.doesNotMatch(error.message, /secret/)
        return true
      },
    )
  })
}

test('a password goes in clear text to loopback, or where that is allowed', () => {
  const env = { JOBCAST_BRIDGE_USER: 'u', JOBCAST_BRIDGE_PASSWORD: 'p' }
  for (const bridge of ['mqtt://localhost', 'mqtt://127.0.0.2:1883', 'ws://[::1]:9001'])
    assert.equal(loadConfig({ bridge }, env).bridges[0]?.password, 'p')
  assert.equal(loadConfig({ bridge: 'mqtt://b', 'allow-plaintext': true }, env).bridges[0]?.password, 'p')
})

test('credentials and client ids are not shared by the bridges of a file', (t) => {
  const file = join(temporaryFolder(t), 'config.yaml')
  const write = (...lines: string[]) => writeFileSync(file, ['bridge:', ...lines].join('\n'))
  write('  a: { url: "mqtts://b" }')
  const env = { JOBCAST_BRIDGE_USER: 'u', JOBCAST_BRIDGE_PASSWORD_FILE: 'f' }
  const load = (more: NodeJS.ProcessEnv = {}) => loadConfig({ config: file }, more)
  assert.throws(() => load(env), /JOBCAST_BRIDGE_USER is for a single bridge.*_PASSWORD_FILE is for/s)
  assert.throws(() => load({ JOBCAST_BRIDGE_CLIENT_ID: 'c' }), /bridge-client-id is for a single bridge/)
  write('  a: { url: "mqtts://b", client-id: c }', '  d: { url: "mqtts://B", prefix: p, client-id: c }')
  assert.throws(() => load(), /bridge d: bridge a has the same client id on the same broker/)
  write('  a: { url: "mqtts://b:8883", client-id: c }', '  d: { url: "mqtts://b", prefix: p, client-id: c }')
  assert.throws(() => load(), /bridge d: bridge a has the same client id on the same broker/)
  write('  a: { url: "mqtts://b", client-id: c }', '  d: { url: "mqtts://b:8884", prefix: p, client-id: c }')
  assert.equal(load().bridges.length, 2)
})

test('a bridge in the file that cannot be is refused with its name', (t) => {
  const file = join(temporaryFolder(t), 'config.yaml')
  writeFileSync(
    file,
    'bridge: { "a b": { url: "mqtt://b" }, c: 5, d: { url: "mqtt://d", passwort: x, silence: soon, enroll: 7 } }',
  )
  assert.throws(
    () => loadConfig({ config: file }, {}),
    (error) => {
      const text = (error as Error).message
      for (const words of [
        /bridge a b: a name/,
        /bridge c is not a map/,
        /"passwort" is not/,
        /soon/,
        /enroll is "7"/,
      ])
        assert.match(text, words)
      return true
    },
  )
})
