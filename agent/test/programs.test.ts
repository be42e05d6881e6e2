// The behavior of all agent programs, in all languages.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { instantOfFault } from '@jobcast/testkit/restarting-server'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { testSeed } from '@jobcast/testkit/test-seed'
import { isChaos, testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { within } from '@jobcast/testkit/within'
import packageJson from '../package.json' with { type: 'json' }
import { agentFlags, enrollFlags } from '../src/program/flags.ts'
import { type DeviceUnderTest, isAlive, newDeviceUnderTest } from './support/device-under-test.ts'
import { type AgentProgram, findPrograms, noProxy, startProgram } from './support/programs.ts'

const server = await openSharedServer({ cancelDeadlineSeconds: 30 })
const programs = await findPrograms()
const lasting = 'sleep 600 & echo $! $$ ready; wait'
const pids = /(\d+) (\d+) ready/

const kills = testSize('kills', { test: 2, chaos: 12 })

for (const program of programs) {
  // `npm test` takes the first shell only.
  if (program.isOther && !isChaos) continue
  describe(program.name, { concurrency: true, skip: program.missing ?? false }, () => {
    test('runs handlers with document, arguments and environment, and reports how they end', (t) =>
      runsHandlers(t, program))
    test('reports interrupted executions when it is stopped, and exits with 0', (t) => stops(t, program))
    test('after a kill it ends remaining processes and starts nothing twice', (t) => killed(t, program))
    test('sends output byte for byte, and progress', (t) => sendsOutput(t, program))
    test('ends a canceled handler with all its processes', (t) => cancels(t, program))
    test('continues after a reboot', (t) => reboots(t, program))
    chaosTest(
      `is stopped and killed at any instant, and no execution is started twice (seed ${testSeed})`,
      (t) => killedOften(t, program),
    )
    test('reports itself and its file of attributes', (t) => reportsAttributes(t, program))
    test('runs documents with steps, passes the trace on, and lists its flags', (t) => runsSteps(t, program))
    test('fetches its first token', (t) => enrolls(t, program))
    test('does not start with a token that others can read', (t) => refuses(t, program))
    test('warns if a group can write to the handlers, and does not start if everyone can', (t) =>
      checksHandlers(t, program))
    test('does not start with an empty setting for signatures', (t) => refusesEmpty(t, program))
  })
}

/** Of a handler that prints what it gets, by a job with parameters. */
async function outputWith(device: DeviceUnderTest, parameters: Record<string, unknown>): Promise<string> {
  const { deviceId } = device
  const variables = ['TEXT', 'N_1', 'LIST'].map((name) => `"$JOBCAST_PARAM_${name}"`).join(' ')
  device.addHandler('params', `printf '%s|' "$@" ${variables}`)
  const properties = {
    ...{ text: { type: 'string' }, 'n-1': { type: 'integer' } },
    list: { type: 'array', items: { type: 'string' } },
  }
  const document = { handler: 'params', args: ['${params.text}', '${params.n-1}'] }
  const job = { document, parameters: { type: 'object', properties } }
  await server.call('PUT', `/job/api/jobs/params-${deviceId}`, { body: job })
  const body = { jobName: `params-${deviceId}`, targets: { deviceIds: [deviceId] }, parameters }
  const { runId } = (await server.call('POST', '/job/api/runs', { body })).json
  const { items: executions } = (await server.call('GET', `/job/api/executions?runId=${runId}`)).json
  const id = executions[0].jobExecutionId
  await device.ended(id)
  return (await device.output(id)).toString()
}

async function runsHandlers(t: TestContext, program: AgentProgram) {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('greet', 'cat; echo; printf "%s|" "$@"; echo; env | grep ^JOBCAST_ | sort; pwd')
  device.addHandler('fail', 'exit $1')
  device.addHandler('crash', 'kill -SEGV $$')
  device.addHandler('answer', `printf '{"at":[1,"it\\047s"]}' >"$JOBCAST_RESULT_FILE"`)
  device.addHandler('lasting', lasting)
  const agent = startProgram(t, program, device, server.http)
  await agent.until(/connected to/)
  const document = { handler: 'greet', args: ['a b', '$(id)', "it's", 'ü\n"\\', ''], more: '\u{1f600}' }
  const { id, ...greeted } = await device.run(document)
  assert.equal(greeted.execState, 'SUCCEEDED', agent.printed())
  const output = (await device.output(id)).toString()
  assert.ok(output.startsWith(`${JSON.stringify(document)}\na b|$(id)|it's|ü\n"\\||\n`), output)
  assert.match(output, new RegExp(`JOBCAST_DEVICE_ID=${device.deviceId}\nJOBCAST_JOB_ID=${id}\n`))
  assert.doesNotMatch(output, /TOKEN|JOBCAST_URL/)

  const text = '$(id) `id` \'; exit 9; "ü" \\'
  assert.equal(
    await outputWith(device, { text, 'n-1': 7, list: ['a', 'b'] }),
    `${text}|7|${text}|7|["a","b"]|`,
  )

  const failed = await device.run({ handler: 'fail', args: ['3'] })
  assert.deepEqual([failed.execState, failed.statusDetails.exitCode], ['FAILED', '3'])
  assert.equal(failed.statusDetails.reason, 'exited with code 3')
  assert.equal((await device.run({ handler: 'crash' })).statusDetails.signal, 'SIGSEGV')
  assert.deepEqual((await device.run({ handler: 'answer' })).result, { at: [1, "it's"] })
  for (const bad of [{ handler: 'none' }, { handler: '../fail' }, { command: ['id'] }, {}]) {
    const { execState, statusDetails } = await device.run(bad)
    assert.equal(execState, 'REJECTED', JSON.stringify(bad))
    assert.ok(statusDetails.reason)
  }
  const trigger = (timeoutSeconds: number) => device.trigger({ handler: 'lasting', timeoutSeconds })
  const late = await device.triggerWithLimit(trigger, pids)
  assert.equal((await device.ended(late.id)).statusDetails.reason, 'took longer than its time limit')
  assert.deepEqual(late.match.slice(1).map(Number).filter(isAlive), [])
}

async function sendsOutput(t: TestContext, program: AgentProgram) {
  const device = await newDeviceUnderTest(t, server)
  const bytes = randomBytes(150_000)
  writeFileSync(join(device.folder, 'bytes'), bytes)
  device.addHandler('print', `cat "${device.folder}/bytes"`)
  device.addHandler(
    'progress',
    `echo '::progress 40 half "done"'; while [ ! -e "${device.folder}/go" ]; do sleep 0.1; done`,
  )
  startProgram(t, program, device, server.http)
  const { id } = await device.run({ handler: 'print' })
  assert.ok(bytes.equals(await device.output(id)))

  const running = await device.trigger({ handler: 'progress' })
  const details = async () => (await server.call('GET', `/job/api/executions/${running}`)).json.statusDetails
  await waitUntil('progress', async () => (await details())?.progress === '40')
  assert.equal((await details()).message, 'half "done"')
  writeFileSync(join(device.folder, 'go'), '')
  assert.equal((await device.ended(running)).execState, 'SUCCEEDED')
}

async function cancels(t: TestContext, program: AgentProgram) {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('lasting', lasting)
  startProgram(t, program, device, server.http)
  for (const force of [false, true]) {
    const id = await device.trigger({ handler: 'lasting' })
    const [, ...running] = await device.untilOutput(id, pids)
    await device.cancel(id, force)
    assert.equal((await device.ended(id)).execState, 'CANCELED')
    await waitUntil('all ended', () => !running.map(Number).some(isAlive))
  }
}

async function stops(t: TestContext, program: AgentProgram) {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('lasting', lasting)
  const idle = startProgram(t, program, device, server.http)
  await idle.until(/connected to/)
  assert.equal(await idle.end('SIGTERM'), 0, idle.printed())
  const agent = startProgram(t, program, device, server.http)
  const id = await device.trigger({ handler: 'lasting' })
  const [, ...running] = await device.untilOutput(id, pids)
  assert.equal(await agent.end('SIGTERM'), 0, agent.printed())
  const { statusDetails } = await device.ended(id)
  assert.equal(statusDetails.reason, 'interrupted: the agent was stopped while it ran')
  assert.deepEqual(running.map(Number).filter(isAlive), [])
}

async function killed(t: TestContext, program: AgentProgram) {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('note', `echo "$JOBCAST_JOB_ID" >>"${device.folder}/starts"; ${lasting}`)
  const first = startProgram(t, program, device, server.http)
  const id = await device.trigger({ handler: 'note' })
  const [, ...running] = await device.untilOutput(id, pids)
  const second = startProgram(t, program, device, server.http)
  await Promise.all([second.gone(), second.until(/Another agent is running/)])
  await first.end('SIGKILL')
  startProgram(t, program, device, server.http)
  const { execState, statusDetails } = await device.ended(id)
  assert.deepEqual(
    [execState, statusDetails.reason],
    ['FAILED', 'interrupted: the agent stopped while it ran'],
  )
  assert.deepEqual(running.map(Number).filter(isAlive), [])
  assert.equal(readFileSync(join(device.folder, 'starts'), 'utf8'), `${id}\n`)
}

async function reboots(t: TestContext, program: AgentProgram) {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler(
    'update',
    `echo "$JOBCAST_START \${JOBCAST_RESUMED:-0} $(cat kept 2>/dev/null)"
[ -n "\${JOBCAST_RESUMED:-}" ] && exit 0
echo half >kept; exit 194`,
  )
  const first = startProgram(t, program, device, server.http, { JOBCAST_BOOT_ID: 'one' })
  const id = await device.trigger({ handler: 'update' })
  const details = async () => (await server.call('GET', `/job/api/executions/${id}`)).json.statusDetails
  await waitUntil('waiting', async () => (await details())?.waitsFor === 'reboot')
  await first.end('SIGKILL')
  startProgram(t, program, device, server.http, { JOBCAST_BOOT_ID: 'two' })
  const { execState, statusDetails } = await device.ended(id)
  assert.deepEqual([execState, statusDetails.starts], ['SUCCEEDED', '2'])
  assert.equal((await device.output(id)).toString(), '1 0 \n2 1 half\n')
}

async function killedOften(t: TestContext, program: AgentProgram) {
  const device = await newDeviceUnderTest(t, server)
  const random = seededRandom(testSeed)
  const starts = join(device.folder, 'starts')
  device.addHandler('note', `echo "$JOBCAST_JOB_ID" >>"${starts}"; echo done`)
  const ids = await Promise.all(Array.from({ length: 6 }, () => device.trigger({ handler: 'note' })))
  const isOver = async () =>
    (await Promise.all(ids.map((id) => server.call('GET', `/job/api/executions/${id}`)))).every(
      ({ json }) => json.finishedAt,
    )
  for (let ended = 0; ended < kills; ended++) {
    const agent = startProgram(t, program, device, server.http)
    await agent.until(/connected to/)
    await instantOfFault(random.below(400))
    const isKilled = ended % 2 === 0
    const gone = agent.end(isKilled ? 'SIGKILL' : 'SIGTERM')
    // It must not wait for the response to its long poll of 30 s.
    const code = await within(25_000, () => `it does not stop\n${agent.printed()}`, gone)
    if (!isKilled) assert.equal(code, 0, agent.printed())
  }
  startProgram(t, program, device, server.http)
  await waitUntil('over', isOver)
  const started = existsSync(starts) ? readFileSync(starts, 'utf8').trim().split('\n') : []
  assert.equal(new Set(started).size, started.length, started.join(' '))
  for (const id of ids) {
    const { execState } = await device.ended(id)
    assert.equal(started.includes(String(id)) || execState === 'FAILED', true)
  }
}

async function refuses(t: TestContext, program: AgentProgram) {
  const device = await newDeviceUnderTest(t, server)
  for (const [token, tokenMode, reason] of [
    ['nothing', 0o600, /there is no device token/],
    [device.token, 0o644, /others can read the token file/],
  ] as const) {
    const agent = startProgram(t, program, { ...device, token }, server.http, {}, tokenMode)
    assert.equal(await agent.gone(), 2, agent.printed())
    await agent.until(reason)
  }
}

async function checksHandlers(t: TestContext, program: AgentProgram) {
  const device = await newDeviceUnderTest(t, server)
  chmodSync(device.handlers, 0o770)
  const warned = startProgram(t, program, device, server.http)
  await warned.until(/a group can write to .*handlers.*chmod g-w/)
  await warned.end('SIGKILL')
  chmodSync(device.handlers, 0o777)
  const refused = startProgram(t, program, device, server.http)
  assert.equal(await refused.gone(), 2, refused.printed())
  await refused.until(/Everyone can write to the folder of handlers/)
}

/** Otherwise an unset variable in a script would disable a check. */
async function refusesEmpty(t: TestContext, program: AgentProgram) {
  const device = await newDeviceUnderTest(t, server)
  const trust = ['--trust', 'keys.pem']
  const refused = [
    [['--trust', ''], {}, /--trust must name the file/],
    [[...trust, '--audience', ''], {}, /--audience must be a string of 1 to 128 characters/],
    [[...trust, '--require-signatures', '0'], {}, /--require-signatures must be a positive integer/],
    [[], { JOBCAST_TRUST: '' }, /JOBCAST_TRUST is empty/],
    [trust, { JOBCAST_AUDIENCE: '' }, /JOBCAST_AUDIENCE is empty/],
    [trust, { JOBCAST_REQUIRE_SIGNATURES: '' }, /JOBCAST_REQUIRE_SIGNATURES is empty/],
    [trust, { JOBCAST_REQUIRE_SIGNATURE: '1' }, /set JOBCAST_REQUIRE_SIGNATURES=1/],
  ] as const
  // Each starts the program: `npm test` tries one flag and one variable.
  for (const [flags, env, reason] of isChaos ? refused : [refused[0], refused[3]]) {
    const flagged = { ...program, words: [...program.words, ...flags] }
    const agent = startProgram(t, flagged, device, server.http, env)
    assert.equal(await agent.gone(), 2, agent.printed())
    await agent.until(reason)
  }
}

async function enrolls(t: TestContext, { name, words: [command = '', ...words] }: AgentProgram) {
  const { json } = await server.call('POST', '/job/api/enrollments', { body: {} })
  const deviceId = name.replace(/\W+/g, '-')
  const tokenFile = join(temporaryFolder(t), 'token')
  const flags = ['enroll', '--server', server.http, '--device', deviceId, '--token-file', tokenFile]
  const env = { ...process.env, ...noProxy, JOBCAST_ENROLLMENT_TOKEN: json.enrollmentToken }
  await promisify(execFile)(command, [...words, ...flags], { env })
  const authorization = `Bearer ${readFileSync(tokenFile, 'utf8').trim()}`
  const reply = await fetch(`${server.http}/things/${deviceId}/jobs`, { headers: { authorization } })
  assert.deepEqual([reply.status, statSync(tokenFile).mode & 0o777], [200, 0o600])
}

async function reportsAttributes(t: TestContext, program: AgentProgram) {
  const device = await newDeviceUnderTest(t, server)
  const file = join(device.folder, 'attributes.json')
  writeFileSync(file, '{"fw": "1.0\\u00fc", "slot": 1,\n "a.b": true}')
  const path = `/job/api/devices/${device.deviceId}`
  const until = (isRight: (attributes: Record<string, unknown>) => boolean) =>
    waitUntil('the attributes are there', async () =>
      isRight((await server.call('GET', path)).json.reportedAttributes ?? {}),
    )
  device.addHandler('update', `printf '{"fw": "2.0"}' > "${file}"`)
  const agent = startProgram(t, program, device, server.http, {
    JOBCAST_ATTRIBUTES_FILE: file,
    TZ: 'Asia/Tokyo',
  })
  await until(({ fw }) => fw === '1.0ü')
  const self = { agentVersion: packageJson.version, os: process.platform, arch: process.arch }
  assert.deepEqual((await server.call('GET', path)).json.reportedAttributes, {
    ...{ ...self, timeZone: 'Asia/Tokyo' },
    ...{ fw: '1.0ü', slot: 1, 'a.b': true },
  })
  assert.equal((await device.run({ handler: 'update' })).execState, 'SUCCEEDED', agent.printed())
  await until(({ fw, slot }) => fw === '2.0' && slot === undefined)
  await agent.end('SIGTERM')
  writeFileSync(file, '[1]')
  const other = startProgram(t, program, device, server.http, { JOBCAST_ATTRIBUTES_FILE: file })
  await other.until(/attributes/)
  assert.equal((await device.run({ handler: 'update' })).execState, 'SUCCEEDED')
}

async function runsSteps(t: TestContext, program: AgentProgram) {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('say', 'echo "$JOBCAST_STEP: $*"')
  device.addHandler('fail', 'echo oops >&2; exit $1')
  device.addHandler('trace', 'echo "$TRACEPARENT"')
  // Before the agent asks: the server stores the trace of a run right after the run.
  const traceparent = `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`
  const jobName = `trace-${device.deviceId}`
  await server.call('PUT', `/job/api/jobs/${jobName}`, { body: { document: { handler: 'trace' } } })
  const { json } = await server.trigger(jobName, [device.deviceId], { headers: { traceparent } })
  const agent = startProgram(t, program, device, server.http)
  const id = json[0].jobExecutionId
  await device.ended(id)
  assert.match((await device.output(id)).toString(), /^00-(?:a1){16}-[0-9a-f]{16}-01\n$/)
  const step = (name: string, handler: string, args: string[], more: object = {}) => ({
    action: { name, type: 'runHandler', input: { handler, args, path: 'default' }, ...more },
  })
  const aws = (...steps: object[]) => ({ version: '1.0', steps })
  const finalStep = step('last', 'say', ["it's done"])
  const tried = step('tried', 'fail', ['3'], { ignoreStepFailure: 'true', allowStdErr: 5 })
  const whole = await device.run({ ...aws(step('one', 'say', ['a b', '$(id)']), tried), finalStep })
  assert.deepEqual([whole.execState, whole.statusDetails.step], ['SUCCEEDED', 'last'], agent.printed())
  assert.equal((await device.output(whole.id)).toString(), "one: a b $(id)\noops\nlast: it's done\n")

  const cases: [document: object, state: string, reason: RegExp][] = [
    [{ ...aws(step('one', 'fail', ['3'])), finalStep }, 'FAILED', /exited with code 3/],
    [aws(step('one', 'fail', ['0'], { allowStdErr: 0 })), 'FAILED', /printed 1 lines on stderr, and 0 are/],
    [aws(step('one', 'say', []), step('two', 'none', [])), 'REJECTED', /there is no handler "none"/],
    [aws(step('one', 'say', [], { runAsUser: 'nobody else' })), 'REJECTED', /must run as nobody else/],
    [aws({ action: { type: 'runCommand', input: { command: 'echo,a' } } }), 'REJECTED', /not allowed/],
    [{ ...aws(step('one', 'say', [])), version: '2.0' }, 'REJECTED', /version is not "1.0"/],
    [{ ...aws(step('one', 'say', [])), conditions: [1] }, 'REJECTED', /does not support conditions/],
    [aws(), 'REJECTED', /steps is not a list of steps/],
  ]
  for (const [document, state, reason] of cases) {
    const { execState, statusDetails } = await device.run(document)
    assert.equal(execState, state, JSON.stringify(document))
    assert.match(statusDetails.reason ?? '', reason)
  }

  const [command = '', ...words] = program.words
  const { stdout } = await promisify(execFile)(command, [...words, '--help'])
  // The shell agent speaks HTTP only.
  const ofMqtt = program.isShell
    ? ['mqtt', 'broker', 'broker-prefix', 'broker-cert-file', 'broker-key-file']
    : []
  const flags = [...agentFlags, ...enrollFlags].filter(({ name }) => !ofMqtt.includes(name))
  assert.deepEqual(
    flags.filter(({ name, env = '' }) => !stdout.includes(`--${name} `) || !stdout.includes(env)),
    [],
  )
  const version = await promisify(execFile)(command, [...words, '--version'])
  assert.equal(version.stdout.trim(), packageJson.version)
}
