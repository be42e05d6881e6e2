import assert from 'node:assert/strict'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { freePort } from '@jobcast/testkit/free-port'
import { openServer } from '@jobcast/testkit/open-server'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { explainStartError } from '../src/serve/server-options.ts'
import { ctrlC, openPseudoTerminal } from './open-terminal.ts'
import { dataFolder, runJobcast } from './run-jobcast.ts'
import { type Spawned, spawnJobcast } from './spawn-jobcast.ts'

const readyLine = /^(\{.*"msg":"ready".*\})$/m

test('serve logs its address as JSON, keeps the admin key out of its log, and exits with 0', async (t) => {
  const data = dataFolder(t)
  const first = spawnJobcast(t, ['serve', '--port', '0', '--data', data, '--json-log'])
  const { http } = JSON.parse((await first.until(readyLine))[1] as string)
  assert.equal((await fetch(`${http}/readyz`)).status, 200)
  assert.equal(await first.end('SIGTERM'), 0)

  const kept = readFileSync(join(data, 'admin-key'), 'utf8').trim()
  assert.equal(statSync(join(data, 'admin-key')).mode & 0o777, 0o600)
  assert.equal(first.stderr(), `Admin API key created; it is in ${join(data, 'admin-key')}\n`)
  assert.ok(!first.stdout().includes(kept))

  const flags = ['--port', '0', '--data', data, '--json-log', '--log-time', 'iso']
  const second = spawnJobcast(t, ['serve', ...flags])
  const ready = JSON.parse((await second.until(readyLine))[1] as string)
  await fetch(`${ready.http}/job/api/jobs`)
  await second.until(/"msg":"request"/)
  assert.equal(await second.end('SIGINT'), 0)
  for (const line of first.stdout().trim().split('\n')) assert.equal(typeof JSON.parse(line).time, 'number')
  for (const line of second.stdout().trim().split('\n'))
    assert.match(JSON.parse(line).time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.equal(second.stderr(), '')
})

test('SIGTERM ends a server that is still starting', longTest, async (t) => {
  for (let left = testSize('starts', { test: 1, chaos: 10 }); left > 0; left--) {
    const starting = spawnJobcast(t, ['serve', '--port', '0', '--data', dataFolder(t), '--json-log'])
    await starting.until(/created .*audit-key/)
    assert.ok([0, 143].includes((await starting.end('SIGTERM')) ?? Number.NaN))
  }
})

chaosTest('at a terminal serve shows the admin key, only once', async (t) => {
  const data = dataFolder(t)
  const flags = ['serve', '--port', '0', '--data', data, '--json-log']
  for (const shown of [true, false]) {
    const terminal = openPseudoTerminal(t, flags)
    await terminal.until(/"msg":"ready"/)
    terminal.press(ctrlC)
    assert.equal(await terminal.ended, 0)
    const kept = readFileSync(join(data, 'admin-key'), 'utf8').trim()
    assert.equal(terminal.screen.raw.includes(kept), shown)
  }
})

test('exits with 2 for settings that are not valid', async () => {
  for (const flags of [
    ['--config', '/no/such.yaml'],
    ['--log-time', 'local'],
    ['--tls-cert', '/no/such.pem', '--tls-key', '/no/such.pem'],
  ]) {
    const { code, stderr } = await runJobcast(['serve', '--port', '0', ...flags])
    assert.equal(code, 2, stderr)
    assert.doesNotMatch(stderr, /at .*\.ts:/)
  }
})

test('--quota and --rate are repeatable, and what they are not is named', async (t) => {
  const wrong = await runJobcast([
    'serve',
    '--check',
    '--quota',
    'devises=1',
    '--quota',
    'jobs=-1',
    '--rate',
    'key',
  ])
  assert.equal(wrong.code, 2)
  for (const expected of [/did you mean devices\?/, /quota jobs is "-1"/, /rate has "key"/])
    assert.match(wrong.stderr, expected)
  const spelledOut = await runJobcast(['serve', '--check', '--max-owner-devices', '5'])
  assert.equal(spelledOut.code, 2)
  assert.match(spelledOut.stderr, /There is no such setting; use --quota devices=5\./)
  const help = await runJobcast(['serve', '--help'])
  assert.match(help.stdout, /^ {2}webhooks +webhooks of one owner \(default 100\)$/m)
  assert.doesNotMatch(help.stdout, /max-owner/)
  const flags = [
    '--quota',
    'devices=5',
    '--quota',
    'jobs=0,keys=7',
    '--rate',
    'key=1',
    '--data',
    dataFolder(t),
  ]
  assert.equal((await runJobcast(['serve', '--check', ...flags])).code, 0)
})

test('one sentence and exit code 1 if it cannot start where it was told to', async (t) => {
  const file = join(dataFolder(t), 'file')
  writeFileSync(file, '')
  const below = join(file, 'below-a-file')
  const cases: [string[], RegExp][] = [
    [
      ['--data', file],
      /^The data folder .*file cannot be used: it, or a folder above it, is a file\. .*--data\.$/,
    ],
    [['--data', below], /^The data folder .*below-a-file cannot be used: it, or .* is a file\. .*--data\.$/],
    [
      ['--host', 'no-such-host.invalid', '--allow-plaintext'],
      /^the host name no-such-host\.invalid cannot .*--host/,
    ],
    [
      ['--host', '203.0.113.9', '--allow-plaintext'],
      /^this machine does not have the address 203\.0\.113\.9\. .*--host/,
    ],
  ]
  for (const [flags, sentence] of cases) {
    const run = await runJobcast([
      'serve',
      '--port',
      '0',
      '--log-level',
      'silent',
      '--data',
      dataFolder(t),
      ...flags,
    ])
    assert.equal(run.code, 1, run.stderr)
    const [, said = run.stderr] = /^jobcast: cannot start: (.*)\n$/.exec(run.stderr) ?? []
    assert.match(said, sentence)
  }
})

// Node's recursive mkdir never returns there.
chaosTest(
  'a data folder below /proc is refused',
  {
    skip: existsSync('/proc/self') ? false : 'there is no /proc here',
  },
  async (t) => {
    const ended = spawnJobcast(t, ['serve', '--port', '0', '--data', '/proc/jobcast/data'])
    assert.equal(await ended.ended, 1)
    assert.match(
      ended.stderr(),
      /^jobcast: cannot start: The data folder \/proc\/jobcast\/data cannot be used: .*\n$/,
    )
  },
)

// Only users without the rights of root get these from the system.
test('a port and a disk that refuse are explained', () => {
  const from = (fields: object) =>
    explainStartError(Object.assign(new Error('listen EACCES: denied'), fields))
  assert.match(
    from({ code: 'EACCES', syscall: 'listen', address: '127.0.0.1', port: 80 }),
    /^jobcast: cannot start: this user is not allowed to listen on port 80\. Choose a port from 1024 up with --port .*\.$/,
  )
  assert.match(from({ code: 'ENOSPC' }), /^jobcast: cannot start: the disk is full\. .*\.$/)
})

test('reports all problems with the settings together, without a stack', async (t) => {
  const { code, stderr } = await runJobcast(
    ['serve', '--port', 'eighty', '--host', '0.0.0.0', '--max-devices', '2000000', '--data', dataFolder(t)],
    { JOBCAST_ADMIN_KEY: 'secret', DATABASE_URL: 'mysql://x', JOBCAST_JSON_LOG: 'maybe' },
  )
  assert.equal(code, 2)
  for (const word of ['port', '0.0.0.0', 'max-devices', 'JOBCAST_ADMIN_KEY', 'DATABASE_URL', 'json-log']) {
    assert.match(stderr, new RegExp(`^ {2}- .*${word}`, 'm'))
  }
  assert.doesNotMatch(stderr, /at .*\.ts:/)
})

test('explains an unreachable database in one sentence', async (t) => {
  const { code, stderr } = await runJobcast(['serve', '--port', '0', '--data', dataFolder(t)], {
    DATABASE_URL: 'postgres://jobcast:secret@127.0.0.1:1/jobcast',
  })
  assert.equal(code, 1)
  assert.match(
    stderr,
    /^jobcast: cannot start: storage is not available: connect ECONNREFUSED 127\.0\.0\.1:1\. Is PostgreSQL running at the address in DATABASE_URL\?\n$/,
  )
})

chaosTest('SIGTERM ends a start that waits for its database, also as process 1', async (t) => {
  const silent = createTcpServer().listen(0, '127.0.0.1')
  const asked = once(silent, 'connection')
  await once(silent, 'listening')
  t.after(() => silent.close())
  const { port } = silent.address() as AddressInfo
  const server = spawnJobcast(t, ['serve', '--port', '0', '--data', dataFolder(t)], {
    DATABASE_URL: `postgres://jobcast:secret@127.0.0.1:${port}/jobcast`,
  })
  const [connection] = await asked
  connection.on('error', () => undefined)
  // An exit code, not the signal: process 1 is not ended by a signal without a listener.
  assert.equal(await server.end('SIGTERM'), 143)
})

test('explains a port in use and a data folder in use in one sentence each', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.after(() => other.close())
  const { port } = other.address() as AddressInfo
  const taken = await runJobcast(['serve', '--port', String(port), '--data', dataFolder(t)])
  assert.equal(taken.code, 1)
  assert.match(
    taken.stderr,
    new RegExp(
      `^jobcast: cannot start: port ${port} is in use\\. Choose another with --port, and with --mqtt-port and `,
    ),
  )

  const data = dataFolder(t)
  await openServer(t, { dataFolder: data })
  const second = await runJobcast(['serve', '--port', '0', '--data', data])
  assert.equal(second.code, 1)
  assert.match(second.stderr, /^jobcast: cannot start: Another Jobcast is running/)
})

test('--check starts nothing, --help lists every setting, a wrong flag exits with 2', async (t) => {
  const data = join(dataFolder(t), 'never-made')
  const check = await runJobcast(['serve', '--check', '--data', data])
  assert.deepEqual([check.code, check.stdout], [0, 'The settings are valid.\n'])
  assert.throws(() => statSync(data), { code: 'ENOENT' })

  const help = await runJobcast(['serve', '--help'])
  for (const flag of [
    '--port',
    '--host',
    '--data',
    '--tls-cert',
    '--max-devices',
    '--config',
    '--json-log',
  ]) {
    assert.match(help.stdout, new RegExp(`^ {2}${flag}`, 'm'))
  }
  assert.equal((await runJobcast(['serve', '--prot', '80'])).code, 2)
})

// Where the system has it, its log goes to a full disk.
chaosTest(
  'JOBCAST_ADMIN_KEY is used instead of a new key, also when the log cannot be written',
  async (t) => {
    const data = dataFolder(t)
    const apiKey = (await runJobcast(['new-key'])).stdout.trim()
    const full = existsSync('/dev/full') ? openSync('/dev/full', 'w') : undefined
    if (full !== undefined) t.after(() => closeSync(full))
    let port: number
    let server: Spawned
    // The port was free a moment ago; where somebody has taken it since, another one.
    do {
      port = await freePort()
      const env = { JOBCAST_PORT: String(port), JOBCAST_DATA: data, JOBCAST_ADMIN_KEY: apiKey }
      server = spawnJobcast(t, ['serve', '--json-log'], env, full)
      await answers(port, server, apiKey)
    } while (!server.isRunning() && /port \d+ is in use/.test(server.stderr()))
    // Enough lines that some must have been written, and rejected, by now.
    let reply: Response | undefined
    for (let calls = 0; calls < 300; calls++) reply = await askServer(port, 'owners', apiKey)
    assert.equal(reply?.status, 200)
    assert.throws(() => statSync(join(data, 'admin-key')), { code: 'ENOENT' })
    assert.equal(await server.end('SIGTERM'), 0)
    assert.equal(server.stderr(), '')
  },
)

const askServer = (port: number, path: string, apiKey: string) =>
  fetch(`http://127.0.0.1:${port}/job/api/${path}`, { headers: { 'x-api-key': apiKey } }).catch(
    () => undefined,
  )

/** Resolves when it answers, or when it has ended. */
async function answers(port: number, server: Spawned, apiKey: string): Promise<void> {
  const hasAnswered = async () => (await askServer(port, 'owners', apiKey))?.status === 200
  await waitUntil('it answers, or has ended', async () => (await hasAnswered()) || !server.isRunning())
  if (!server.isRunning()) await server.ended
}
