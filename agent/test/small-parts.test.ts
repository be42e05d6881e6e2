import assert from 'node:assert/strict'
import { chmodSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { isDeviceToken, readTokenFile } from '../src/device/read-token.ts'
import { timeZone } from '../src/device/time-zone.ts'
import { readResult } from '../src/execution/result-file.ts'
import { details } from '../src/execution/status-details.ts'
import { callAt } from '../src/execution/time-limit.ts'
import { WakeUp } from '../src/execution/wake-up.ts'
import { handlerEnvironment } from '../src/handler/handler-environment.ts'
import { userName } from '../src/handler/user-name.ts'
import { logLine } from '../src/log-lines.ts'
import { agentFlags, resolveFlags } from '../src/program/flags.ts'
import { lockByFile } from '../src/state/lock-by-file.ts'
import { reconnectDelayMs } from '../src/transport/reconnect-delay.ts'
import { httpAddress, mqttAddress, webSocketAddress } from '../src/transport/server-address.ts'

test('the delay before a reconnect is random up to a limit that doubles, and never above the maximum', () => {
  const backoff = { baseMs: 1000, capMs: 30_000 }
  const longest = (failures: number) => reconnectDelayMs(failures, backoff, 1)
  assert.deepEqual([0, 1, 2, 3, 4, 5, 100_000].map(longest), [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  assert.equal(reconnectDelayMs(7, backoff, 0), 0)
})

test('the address for MQTT is derived from that of the server; passwords in it are refused', () => {
  assert.equal(webSocketAddress('http://127.0.0.1:8080'), 'ws://127.0.0.1:8080/mqtt')
  assert.equal(webSocketAddress('https://jobs.example/'), 'wss://jobs.example/mqtt')
  assert.equal(webSocketAddress('https://example/jobcast/'), 'wss://example/jobcast/mqtt')
  assert.equal(httpAddress('https://jobs.example/'), 'https://jobs.example')
  assert.equal(mqttAddress('mqtt://[::1]:1883'), 'mqtt://[::1]:1883')
  assert.throws(() => webSocketAddress('jobs.example'), /not an address such as/)
  assert.throws(() => mqttAddress('http://jobs.example'), /not an address such as/)
  assert.throws(() => httpAddress('https://me:secret@jobs.example'), /password/)
})

const token = `jd_${'aB3'.repeat(16)}`

test('a token file that others can read is refused with a sentence', (t) => {
  const path = join(temporaryFolder(t), 'token')
  writeFileSync(path, `${token}\n`, { mode: 0o600 })
  assert.equal(readTokenFile(path), token)
  const open = join(temporaryFolder(t), 'open')
  writeFileSync(open, token)
  chmodSync(open, 0o644)
  assert.throws(() => readTokenFile(open), /others can read the token file .*0644.*chmod 600/)
  writeFileSync(path, 'jc_an-api-key')
  assert.throws(() => readTokenFile(path), /no device token .* in /)
  assert.throws(
    () => readTokenFile(`${path}-none`),
    /there is no token file .*-none: create it with mode 0600/,
  )
})

test('a token has exactly the format of the server', (t) => {
  const path = join(temporaryFolder(t), 'token')
  const more = ['\nurl = "file:///etc/passwd"', '"', ' x', '\r\nX-A: b', 'a', '\0', 'ä', 'x'.repeat(5000)]
  for (const wrong of [
    ...more.map((each) => token + each),
    '',
    'jd_',
    token.slice(0, -1),
    `je${token.slice(2)}`,
  ]) {
    writeFileSync(path, wrong, { mode: 0o600 })
    assert.throws(() => readTokenFile(path), /no device token .* in /, JSON.stringify(wrong))
    assert.equal(isDeviceToken(wrong), false)
  }
  for (const other of [undefined, null, 1, [token], { toString: () => token }]) {
    assert.equal(isDeviceToken(other), false)
  }
})

test('the time zone is that of the machine, without loading all zones', (t) => {
  const folder = temporaryFolder(t)
  const [link, file] = [join(folder, 'localtime'), join(folder, 'timezone')]
  const none = { tz: undefined, link: join(folder, 'none'), file }
  assert.equal(timeZone(none), 'UTC')
  symlinkSync('../usr/share/zoneinfo/America/Argentina/Ushuaia', link)
  assert.equal(timeZone({ tz: undefined, link, file }), 'America/Argentina/Ushuaia')
  assert.equal(timeZone({ tz: ':Europe/Berlin', link, file }), 'Europe/Berlin')
  assert.equal(timeZone({ tz: 'Etc/UTC', link, file }), 'UTC')
  const byIntl = Intl.DateTimeFormat().resolvedOptions().timeZone
  for (const tz of ['CET-1CEST', '/etc/passwd', '../../x', 'a b/c']) {
    assert.equal(timeZone({ tz, link, file }), byIntl, tz)
  }
  // A copy, as some installers make it.
  writeFileSync(file, 'Asia/Tokyo\n')
  assert.equal(timeZone({ tz: undefined, link: file, file }), 'Asia/Tokyo')
})

test('a log line is one line, with any untrusted text', () => {
  const reason = `gone\n\u001b[2Jexecution 7, attempt 1: SUCCEEDED\u202e${'x'.repeat(10_000)}`
  const line = logLine({ kind: 'disconnected', reason })
  assert.match(line, /^connection lost: gone.{2}\[2Jexecution/u)
  assert.doesNotMatch(line, /\p{Cc}|\p{Cf}/u)
  assert.ok(line.length < 600)
})

test('a user without a name, as in a container, is shown by its number', (t) => {
  const userInfo = t.mock.method(os, 'userInfo', () => {
    throw new Error('uv_os_get_passwd returned ENOENT (no such file or directory)')
  })
  syncBuiltinESMExports()
  assert.equal(userName(), String(process.getuid?.()))
  userInfo.mock.restore()
  syncBuiltinESMExports()
})

test("a handler's environment has none of the agent's settings", () => {
  const base = { PATH: '/bin', JOBCAST_DEVICE_TOKEN: 'jd_secret', JOBCAST_SERVER: 'x' }
  const given = { deviceId: 'd', jobId: '7', attempt: 2, start: 1, startId: 'i', isResumed: false }
  const env = handlerEnvironment(base, { ...given, resultFile: '/r', step: 's' })
  assert.deepEqual(Object.keys(env).sort(), [
    'JOBCAST_ATTEMPT',
    'JOBCAST_DEVICE_ID',
    'JOBCAST_JOB_ID',
    'JOBCAST_RESULT_FILE',
    'JOBCAST_START',
    'JOBCAST_START_ID',
    'JOBCAST_STEP',
    'PATH',
  ])
  assert.equal(
    handlerEnvironment(base, { ...given, isResumed: true, resultFile: '', step: '' }).JOBCAST_RESUMED,
    '1',
  )
})

test('parameters become variables of a handler with distinct names', () => {
  const given = { deviceId: 'd', jobId: '7', attempt: 2, start: 1, startId: 'i', isResumed: false }
  const parameters = {
    'target-version': '2.4; rm -rf /',
    n: 1.5,
    on: false,
    list: ['a', 1],
    'a b': 'x',
    nul: 'a\0b',
  }
  const env = handlerEnvironment({}, { ...given, resultFile: '/r', step: 's', parameters })
  const named = Object.entries(env).filter(([name]) => name.startsWith('JOBCAST_PARAM_'))
  assert.deepEqual(Object.fromEntries(named), {
    JOBCAST_PARAM_TARGET_VERSION: '2.4; rm -rf /',
    JOBCAST_PARAM_N: '1.5',
    JOBCAST_PARAM_ON: 'false',
    JOBCAST_PARAM_LIST: '["a",1]',
  })
})

test('details are texts that the server accepts: short, without control characters, never empty', () => {
  const long = '\u{1f600}'.repeat(2000)
  assert.deepEqual(details({ a: 'x\ny\t\u0085z', b: 5, c: undefined, d: '\n', e: '\ud800x' }), {
    a: 'x y z',
    b: '5',
    d: '-',
    e: 'x',
  })
  assert.equal([...(details({ long }).long ?? '')].length, 1024)
})

test('a result is JSON up to 64 KiB; otherwise the problem is reported', async (t) => {
  const path = join(temporaryFolder(t), 'result.json')
  const resultOf = (content: string) => {
    writeFileSync(path, content)
    return readResult(path)
  }
  assert.deepEqual(await readResult(path), {})
  assert.deepEqual(await resultOf(''), {})
  assert.deepEqual(await resultOf('{"a":[1,null]}\n'), { result: { a: [1, null] } })
  assert.deepEqual(await resultOf('null'), { result: null })
  assert.deepEqual(await resultOf('{a}'), { problem: 'the result is not JSON' })
  assert.deepEqual(await resultOf(JSON.stringify('x'.repeat(65_534))), { result: 'x'.repeat(65_534) })
  assert.deepEqual(await resultOf(JSON.stringify('x'.repeat(65_535))), {
    problem: 'the result is larger than 64 KiB',
  })
  assert.deepEqual(await readResult(join(path, '..')), { problem: 'the result is not a file' })
})

test('a time limit above the maximum of a timer is observed', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const now = t.mock.method(performance, 'now', () => 0)
  const days = 24 * 60 * 60 * 1000
  let isOver = false
  callAt(60 * days, () => {
    isOver = true
  })
  for (let day = 1; day <= 60; day++) {
    now.mock.mockImplementation(() => day * days)
    t.mock.timers.tick(days)
    assert.equal(isOver, day === 60, `day ${day}`)
  }
})

test('a wake-up before the wait is not missed, and applies once', async () => {
  const wakeUp = new WakeUp()
  const { signal } = new AbortController()
  wakeUp.wake()
  wakeUp.wake()
  await wakeUp.wait(signal)
  const gone = new AbortController()
  const waiting = wakeUp.wait(gone.signal)
  gone.abort(new Error('enough'))
  await assert.rejects(waiting, /enough/)
  wakeUp.wake()
  await wakeUp.wait(signal)
})

test('a lock file is held once, and is released when its process has ended', (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'lock')
  const isTaken = () => new Error('taken')
  const lock = lockByFile(path, isTaken)
  assert.throws(() => lockByFile(path, isTaken), /taken/)
  lock.release()
  assert.deepEqual(readdirSync(folder), [])
  // One that was killed: its number may belong to another process by now.
  writeFileSync(path, JSON.stringify({ pid: process.pid, startedAt: '1', bootId: 'another' }))
  lockByFile(path, isTaken).release()
  writeFileSync(path, 'torn')
  lockByFile(path, isTaken).release()
  assert.deepEqual(readdirSync(folder), [])
})

test('a flag takes precedence over the environment, and old names continue to work', () => {
  const urlOf = (given: object, env: NodeJS.ProcessEnv) =>
    resolveFlags<{ url?: string }>(agentFlags, given as Record<string, unknown>, env).url
  const env = { JOBCAST_URL: 'c', JOBCAST_SERVER: 'd' }
  assert.equal(urlOf({ url: 'a', server: 'b' }, env), 'a')
  assert.equal(urlOf({ server: 'b' }, env), 'b')
  assert.equal(urlOf({}, env), 'c')
  assert.equal(urlOf({}, { JOBCAST_SERVER: 'd' }), 'd')
})
