import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { type Config, ConfigError, loadConfig } from '../../src/index.ts'

test('a flag wins over the environment, the environment over the file, the file over the default', (t) => {
  const config = join(temporaryFolder(t), 'jobcast.yaml')
  writeFileSync(config, 'port: 1\nhost: 127.0.0.3\nmax-devices: 7\nallow-plaintext: true\n')
  const env = { JOBCAST_PORT: '2', JOBCAST_HOST: '127.0.0.2', JOBCAST_CONFIG: config }
  const { port, host, maxDevices, dataFolder } = loadConfig({ port: '3' }, env)
  assert.deepEqual(
    { port, host, maxDevices, dataFolder },
    { port: 3, host: '127.0.0.2', maxDevices: 7, dataFolder: './data' },
  )
})

test('what devices need has defaults, and can be set', () => {
  const ofDevices = (config: Config) => {
    const { mqttPort, deviceCa, maxOutputBytes, cancelDeadlineSeconds } = config
    return { mqttPort, deviceCa, maxOutputBytes, cancelDeadlineSeconds }
  }
  assert.deepEqual(ofDevices(loadConfig({}, {})), {
    mqttPort: 1883,
    deviceCa: undefined,
    maxOutputBytes: 10 * 1024 * 1024,
    cancelDeadlineSeconds: 60,
  })
  const env = { JOBCAST_MAX_OUTPUT_BYTES: '1', JOBCAST_CANCEL_DEADLINE: '5' }
  assert.deepEqual(ofDevices(loadConfig({ 'mqtt-port': '0' }, env)), {
    mqttPort: 0,
    deviceCa: undefined,
    maxOutputBytes: 1,
    cancelDeadlineSeconds: 5,
  })
})

test('addresses that webhooks may go to are a list, empty by default', () => {
  assert.deepEqual(loadConfig({}, {}).webhookAllow, [])
  const env = { JOBCAST_WEBHOOK_ALLOW: '10.1.0.0/16, 127.0.0.1,,::1' }
  assert.deepEqual(loadConfig({}, env).webhookAllow, ['10.1.0.0/16', '127.0.0.1', '::1'])
})

test('clear text beyond loopback needs a word', () => {
  for (const host of ['0.0.0.0', '::', 'example.org', '10.1.2.3']) {
    assert.throws(() => loadConfig({ host }, {}), ConfigError, host)
    assert.equal(loadConfig({ host, 'allow-plaintext': true }, {}).plaintextBeyondLoopback, true)
  }
  for (const host of ['127.0.0.1', '127.9.9.9', 'localhost', '::1']) {
    assert.equal(loadConfig({ host }, {}).plaintextBeyondLoopback, false, host)
  }
})

test('executions are kept forever by default, and no shorter than events', () => {
  assert.equal(loadConfig({}, {}).keepExecutionsDays, undefined)
  assert.equal(loadConfig({ 'keep-executions': '7' }, {}).keepExecutionsDays, 7)
  const env = { JOBCAST_KEEP_EXECUTIONS: '2', JOBCAST_KEEP_EVENTS: '1' }
  assert.equal(loadConfig({}, env).keepExecutionsDays, 2)
})

const problems: [string, Parameters<typeof loadConfig>[0], Record<string, string>, RegExp][] = [
  ['a port above 65535', { port: '65536' }, {}, /port is "65536"/],
  ['a negative port', { port: '-1' }, {}, /port is "-1"/],
  ['an MQTT port above 65535', { 'mqtt-port': '65536' }, {}, /mqtt-port is "65536"/],
  ['no devices', { 'max-devices': '0' }, {}, /max-devices is "0"/],
  [
    'executions kept shorter than events',
    { 'keep-executions': '6' },
    {},
    /keep-executions is 6, less than keep-events \(7\)/,
  ],
  [
    'executions kept for a day',
    { 'keep-executions': '1', 'keep-events': '1' },
    {},
    /keep-executions is 1, less than 2 days/,
  ],
  ['no output', { 'max-output-bytes': '0' }, {}, /max-output-bytes is "0"/],
  ['no time to cancel', {}, { JOBCAST_CANCEL_DEADLINE: '0.5' }, /cancel-deadline is "0.5"/],
  ['who signs for devices without TLS', { 'device-ca': 'no.pem' }, {}, /device-ca needs tls-cert/],
  ['a certificate without key', { 'tls-cert': 'cert.pem' }, {}, /must be set together/],
  ['files that are not there', { 'tls-cert': 'no.pem', 'tls-key': 'no.key' }, {}, /no\.pem cannot be read/],
  [
    'an address that is none',
    { 'webhook-allow': '10.0.0.0/8, localhost' },
    {},
    /webhook-allow has "localhost"/,
  ],
  ['an unknown level', {}, { JOBCAST_LOG_LEVEL: 'loud' }, /log-level is "loud"/],
  ['a missing file', {}, { JOBCAST_CONFIG: 'no.yaml' }, /no\.yaml cannot be read/],
]
for (const [title, flags, env, expected] of problems) {
  test(`refuses ${title}`, () => {
    assert.throws(() => loadConfig(flags, env), expected)
  })
}

test('names a setting in the file that there is not', (t) => {
  const config = join(temporaryFolder(t), 'jobcast.yaml')
  writeFileSync(config, 'prot: 1\n')
  assert.throws(() => loadConfig({ config }, {}), /"prot" is not a setting/)
})

test('secrets can come from files, and are in no message', (t) => {
  const file = join(temporaryFolder(t), 'secret')
  const url = 'postgres://jobcast:hidden@db/jobcast'
  writeFileSync(file, `${url}\n`)
  assert.equal(loadConfig({}, { DATABASE_URL_FILE: file }).databaseUrl, url)
  const problemsOf = (env: NodeJS.ProcessEnv) => {
    try {
      loadConfig({}, env)
    } catch (error) {
      return (error as ConfigError).message
    }
    return undefined
  }
  assert.match(problemsOf({ DATABASE_URL: url, DATABASE_URL_FILE: file }) ?? '', /both set/)
  assert.match(problemsOf({ JOBCAST_ADMIN_KEY_FILE: '/no/such' }) ?? '', /JOBCAST_ADMIN_KEY_FILE.*ENOENT/)
  assert.doesNotMatch(problemsOf({ JOBCAST_ADMIN_KEY_FILE: file }) ?? '', /hidden/)
  writeFileSync(file, '')
  assert.match(problemsOf({ JOBCAST_ADMIN_KEY_FILE: file }) ?? '', /is empty/)
})
