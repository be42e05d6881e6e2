// jobcast trigger without a terminal, as in scripts and CI.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { dataFolder, runJobcast, startJobcast } from './run-jobcast.ts'
import { spawnJobcast } from './spawn-jobcast.ts'

const server = await openSharedServer({ maxDevices: 5 })
const access = { JOBCAST_URL: server.http, JOBCAST_API_KEY: server.adminKey }
const jobcast = (args: string[], input = '') => runJobcast(args, access, input)

/** A device; the function carries out its next execution. */
async function deviceThatEnds(deviceId: string, status: string, more: object = {}) {
  const device = await newDevice(server, deviceId)
  return async () => {
    const { json } = await device.startNext()
    const reply = await device.update(json.execution.jobId, status, more)
    assert.equal(reply.status, 200, reply.text)
  }
}

test('without --wait names the run and lists its executions', async () => {
  await server.putJobAndDevices('once', ['once-1', 'once-2'])
  const { code, stdout, stderr } = await jobcast(['trigger', 'once', '-d', 'once-2', '-d', 'once-1'])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^EXECUTION {2}DEVICE {2,}NAME {2,}STATE\n\d+ +once-2 +once-2 +PENDING\n\d+ +once-1 /)
  const [, runId] = /^Run (\d+): once on 2 devices\n/.exec(stderr) ?? []
  assert.match(stderr, new RegExp(`jobcast runs watch ${runId} .*jobcast runs cancel ${runId}\n$`))
})

test('--group and --where list the executions as -d does; a key that may not read names the run', async () => {
  await server.putJobAndDevices('grouped', ['grouped-1', 'grouped-2'])
  await server.call('PUT', '/job/api/groups/grouped', {
    body: { where: 'deviceId in (grouped-1, grouped-2)' },
  })
  const args = ['trigger', 'grouped', '--group', 'grouped']
  const { code, stdout, stderr } = await jobcast(args)
  assert.equal(code, 0, stderr)
  const lines = /^EXECUTION {2}DEVICE {2,}NAME {2,}STATE\n\d+ +grouped-1 +grouped-1 +PENDING\n\d+ +grouped-2 /
  assert.match(stdout, lines)
  const { runId, total, executions } = JSON.parse((await jobcast([...args, '--json'])).stdout)
  assert.deepEqual([typeof runId, total], ['number', 2])
  const names = ['jobExecutionId', 'jobName', 'deviceId', 'deviceName', 'execState', 'launchedAt']
  assert.deepEqual(Object.keys(executions[0]), names)
  const { apiKey } = await server.newKey(['TRIGGER'])
  const blind = await jobcast([...args, '--api-key', apiKey])
  assert.deepEqual([blind.code, blind.stdout.trim()], [0, ''])
  assert.match(blind.stderr, /^Run \d+: grouped on 2 devices$/m)
})

test('--json prints one document on standard output, and nothing else', async () => {
  await server.putJobAndDevices('json', ['json-1'])
  const triggered = await jobcast(['trigger', 'json', '--device', 'json-1', '--json'])
  const { runId, executions } = JSON.parse(triggered.stdout)
  assert.deepEqual(Object.keys(executions[0]), [
    'jobExecutionId',
    'jobName',
    'deviceId',
    'deviceName',
    'execState',
    'launchedAt',
  ])
  const wait = (time: string) =>
    jobcast(['trigger', 'json', '--device', 'json-1', '--json', '--timeout', time])
  // On a busy machine a second may be over before the run was seen: then with more time.
  let late = await wait('1s')
  for (const time of ['5s', '55s']) if (!/^Waiting for/m.test(late.stderr)) late = await wait(time)
  assert.equal(late.code, 7)
  assert.equal(JSON.parse(late.stdout).counts.PENDING, 1)
  assert.match(late.stderr, /^Waiting for json-1: Device json-1 has never connected/m)
  assert.match(
    late.stderr,
    /^Run \d+ has not finished after 0:(01|05|55) and continues\. Watch it: {2}jobcast runs watch/m,
  )
  assert.equal(JSON.parse((await jobcast(['runs', 'get', String(runId), '--json'])).stdout).runId, runId)
})

test('--wait exits with 0 if all executions SUCCEEDED, else with 6', async (t) => {
  await server.putJobAndDevices('end', [])
  const succeed = await deviceThatEnds('end-1', 'SUCCEEDED')
  const fail = await deviceThatEnds('end-2', 'FAILED', {
    statusDetails: { reason: 'exit code 1', step: '3' },
  })
  const wait = (...ids: string[]) =>
    startJobcast(t, ['trigger', 'end', ...ids.flatMap((id) => ['-d', id]), '--wait'], access)

  const good = wait('end-1')
  await good.untilError(/end #\d+ {2}0\/1 {2}1 PENDING {2}\d:\d\d\n/)
  await succeed()
  assert.equal(await good.ended, 0)
  assert.match(good.stdout(), /^end #\d+ {2}1 SUCCEEDED\n$/)

  const mixed = wait('end-1', 'end-2')
  await mixed.untilError(/2 PENDING/)
  await fail()
  await mixed.untilError(/^end-2: FAILED: exit code 1 \(execution \d+\)\n/m)
  await succeed()
  assert.equal(await mixed.ended, 6)
  assert.match(mixed.stdout(), /^end #\d+ {2}1 SUCCEEDED 1 FAILED\n$/)
})

test('--wait names the device it waits for and why, only once', async (t) => {
  await server.putJobAndDevices('name', ['name-1'])
  const begun = performance.now()
  const waiting = startJobcast(t, ['trigger', 'name', '-d', 'name-1', '--wait'], access)
  await waiting.untilError(/^Waiting for name-1: Device name-1 has never connected.* \(execution \d+\)$/m)
  // Most runs end before: then it would only distract.
  assert.ok(performance.now() - begun >= 4900)
  // Two progress lines later, and nothing has changed.
  await waiting.untilError(/(?:name #\d+ {2}0\/1.*\n(?:Waiting.*\n)?){3}/)
  assert.equal(waiting.stderr().match(/Waiting for/g)?.length, 1)
  const [, runId] = /^Run (\d+)/.exec(waiting.stderr()) ?? []
  await server.call('POST', `/job/api/runs/${runId}/cancel`)
  assert.equal(await waiting.ended, 6)
})

test('--wait continues when its output is no longer read, because its exit code matters', async (t) => {
  await server.putJobAndDevices('outlive', [])
  const fail = await deviceThatEnds('outlive-1', 'FAILED')
  const waiting = spawnJobcast(t, ['trigger', 'outlive', '-d', 'outlive-1', '--wait'], access)
  await waiting.untilError(/1 PENDING/)
  waiting.closeStdout()
  await fail()
  assert.equal(await waiting.ended, 6)
  assert.doesNotMatch(waiting.stderr(), /EPIPE|at /)
})

test('SIGTERM ends the wait, not the run', async (t) => {
  await server.putJobAndDevices('term', ['term-1'])
  const waiting = spawnJobcast(t, ['trigger', 'term', '-d', 'term-1', '--wait'], access)
  // One line at once, and another a few seconds later, although nothing has changed.
  await waiting.untilError(/(?:term #\d+ {2}0\/1 {2}1 PENDING {2}\d:\d\d\n){2}/)
  assert.equal(await waiting.end('SIGTERM'), 143)
  assert.match(waiting.stderr(), /^Run \d+ continues\./m)
})

test('--follow prints the output of one device unchanged; with --json on standard error', async (t) => {
  await server.putJobAndDevices('follow', [])
  const device = await newDevice(server, 'follow-1')
  for (const json of [false, true]) {
    const args = ['trigger', 'follow', '-d', 'follow-1', '--follow', ...(json ? ['--json'] : [])]
    const following = startJobcast(t, args, access)
    await following.untilError(/^Run \d+/)
    const { jobId } = (await device.startNext()).json.execution
    await device.output(jobId, 0, 'no line end')
    await (json ? following.untilError : following.until)(/no line end/)
    await device.update(jobId, 'SUCCEEDED')
    assert.equal(await following.ended, 0)
    if (json) assert.equal(JSON.parse(following.stdout()).counts.SUCCEEDED, 1)
    else assert.equal(following.stdout(), 'no line end')
  }
})

test('--tag selects devices with all tags; --online excludes offline ones', async () => {
  await server.putJobAndDevices('tags', [])
  const put = (id: string, tags: string[]) => server.call('PUT', `/job/api/devices/${id}`, { body: { tags } })
  await Promise.all([put('tag-1', ['red', 'round']), put('tag-2', ['red']), put('tag-3', ['round'])])
  const devicesOf = async (...flags: string[]) => {
    const { code, stdout } = await jobcast(['trigger', 'tags', ...flags, '--json'])
    return code === 0
      ? JSON.parse(stdout).executions.map((each: { deviceId: string }) => each.deviceId)
      : code
  }
  assert.deepEqual(await devicesOf('--tag', 'red'), ['tag-1', 'tag-2'])
  assert.deepEqual(await devicesOf('--tag', 'red', '--tag', 'round'), ['tag-1'])
  assert.deepEqual(await devicesOf('--tag', 'red', '-d', 'tag-3', '-d', 'tag-1'), ['tag-3', 'tag-1', 'tag-2'])
  assert.equal(await devicesOf('--tag', 'red', '--online'), 4)
})

test('reads devices from a file and from standard input, with comments', async (t) => {
  await server.putJobAndDevices('file', ['file 1', 'file-2'])
  const text = '# the hall\nfile 1  # by the door\r\n\n  file-2\nfile 1\n'
  const file = join(dataFolder(t), 'devices')
  writeFileSync(file, text)
  for (const [from, input] of [
    [file, ''],
    ['-', text],
  ] as const) {
    const { stdout, stderr } = await jobcast(['trigger', 'file', '--devices-file', from, '--json'], input)
    const { executions } = JSON.parse(stdout || assert.fail(stderr))
    assert.deepEqual(
      executions.map((each: { deviceId: string }) => each.deviceId),
      ['file 1', 'file-2'],
    )
  }
})

test('takes names that look like flags: after --, and as values of flags', async () => {
  await server.putJobAndDevices('--wait', ['--json', '$(id)'])
  const args = ['trigger', '-d', '--json', '--device', '$(id)', '--', '--wait']
  const { code, stdout, stderr } = await jobcast(args)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^EXECUTION .*\n\d+ +--json .*\n\d+ +\$\(id\) /)
  assert.match(stderr, /^Run \d+: --wait on 2 devices\n/)
  assert.match((await jobcast(['jobs', 'get', '--', '--wait'])).stdout, /^job +--wait$/m)
})

test('the same --idempotency-key triggers once; exits with 5 for another request', async () => {
  await server.putJobAndDevices('twice', ['twice-1', 'twice-2'])
  const args = ['trigger', 'twice', '--idempotency-key', 'deploy-1', '--json', '-d', 'twice-1']
  const [one, two] = [await jobcast(args), await jobcast(args)]
  assert.equal(JSON.parse(one.stdout).runId, JSON.parse(two.stdout).runId)
  const other = await jobcast([...args, '-d', 'twice-2'])
  assert.equal(other.code, 5)
  assert.match(other.stderr, /^jobcast: Idempotency-Key was already used with a different request \(J-501\)/)
})

const manyDevices = Array.from({ length: 51 }, (_, at) => `d${at}`).join('\n')
const refusals: [why: string, args: string[], code: number, text: RegExp, input?: string][] = [
  [
    'no devices',
    ['once'],
    2,
    /^error: no devices given; use --device, --tag, --where, --group or --devices-file/,
  ],
  ['no job', [], 2, /^error: name the job, or use --plan/],
  [
    'an unknown flag',
    ['once', '--devise', 'x'],
    2,
    /^error: unknown option '--devise'\n\(Did you mean --device\?\)/,
  ],
  ['an invalid time', ['once', '--timeout', 'soon'], 2, /duration such as/],
  [
    'a missing file',
    ['once', '--devices-file', '/no/such'],
    2,
    /cannot read \/no\/such: no such file or directory\n/,
  ],
  ['--online alone', ['once', '-d', 'once-1', '--online'], 2, /--online requires --tag/],
  [
    'too many to follow',
    ['once', '--devices-file', '-', '-f'],
    2,
    /--follow supports up to 50 devices, not 51/,
    manyDevices,
  ],
  [
    'an unknown job',
    ['no-job', '-d', 'once-1'],
    4,
    /^jobcast: job no-job not found \(J-301\)\. List the jobs: jobcast jobs ls\n$/,
  ],
  ['unknown devices', ['once', '-d', 'x1', '-d', 'x2'], 4, /^jobcast: Device not found \(J-001\): x1, x2\n$/],
  ['an unused tag', ['once', '-t', 'nobody'], 4, /^jobcast: No device found with tag "nobody"\.\n$/],
  ['an empty file', ['once', '--devices-file', '-'], 4, /No device found in standard input/],
  [
    'too many devices',
    ['once', '--devices-file', '-'],
    5,
    /^jobcast: Validation error \(J-500\).*\b5\b/,
    manyDevices,
  ],
]
for (const [why, args, code, text, input] of refusals) {
  test(`trigger with ${why} exits with ${code}`, async () => {
    const finished = await jobcast(['trigger', ...args], input)
    assert.equal(finished.code, code, finished.stderr)
    assert.match(finished.stderr, text)
    assert.equal(finished.stdout, '')
  })
}

test('--dry-run names its plan and what will hold it, and --plan starts exactly that, once', async () => {
  await server.putJobAndDevices('planned', ['planned-1', 'planned-2', 'planned-3'])
  const target = ['planned', '-d', 'planned-1', '-d', 'planned-2', '-d', 'planned-3']
  const dry = await jobcast([
    'trigger',
    ...target,
    '--canary',
    '1',
    '--approval',
    '--stop-at',
    '2',
    '--dry-run',
  ])
  assert.equal(dry.code, 0, dry.stderr)
  assert.match(
    dry.stdout,
    /^holds +The run waits for approval by somebody who has not planned, created or changed it\.$/m,
  )
  assert.match(
    dry.stdout,
    /^problems +The stop rule rollout\.stop\[0\] can hold nothing back: its count is 2,.* none is online now/m,
  )
  const [, planId = ''] = /^plan +(\S+)$/m.exec(dry.stdout) ?? []
  const [, first = ''] = /^sample +(\S+),/m.exec(dry.stdout) ?? []
  assert.match(dry.stderr, new RegExp(`jobcast trigger --plan ${planId}`))
  const started = await jobcast(['trigger', '--plan', planId, '--json'])
  assert.equal(started.code, 0, started.stderr)
  const { runId, executions } = JSON.parse(started.stdout)
  assert.equal(executions[0].deviceId, first, 'the canary is the one that was named')
  assert.equal(JSON.parse((await jobcast(['trigger', '--plan', planId, '--json'])).stdout).runId, runId)
  const unknown = await jobcast(['trigger', '--plan', 'nothing'])
  assert.deepEqual([unknown.code, /J-505/.test(unknown.stderr)], [5, true], unknown.stderr)
  for (const [args, words] of [
    [['planned', '--plan', planId], /leave out the job planned/],
    [['--plan', planId, '--rate', '5'], /leave out --rate/],
    [[], /name the job, or use --plan/],
  ] as const) {
    const wrong = await jobcast(['trigger', ...args])
    assert.equal(wrong.code, 2)
    assert.match(wrong.stderr, words)
  }
})

test('rollout flags: a plan in waves, exit code 9 while it waits for approval, 10 when a rule has paused it', async () => {
  await server.putJobAndDevices('rolled', ['rolled-2', 'rolled-3'])
  const fail = await deviceThatEnds('rolled-1', 'FAILED')
  const target = ['rolled', '-d', 'rolled-1', '-d', 'rolled-2', '-d', 'rolled-3']
  const waves = ['--order', 'given', '--canary', '1', '--waves', '1,100%']
  const flags = [...waves, '--rate', '600', '--soak', '1h', '--stop-at', '5%']
  const plan = await jobcast(['trigger', ...target, ...flags, '--until', 'fw=2.4.1', '--dry-run', '--json'])
  assert.deepEqual(
    JSON.parse(plan.stdout).waves.map(({ size }: { size: number }) => size),
    [1, 1, 1],
  )
  const offline =
    'The gate of the first wave needs 1 of 1 device to succeed, but none is online now: the next wave waits until more come online.'
  assert.deepEqual(JSON.parse(plan.stdout).problems, [
    'No device reports fw, which rollout.next.where names.',
    offline,
  ])
  const waiting = ['--until', 'fw=2.4.1', '--until-wait', '--dry-run', '--json']
  const patient = await jobcast(['trigger', ...target, ...flags, ...waiting])
  assert.deepEqual(JSON.parse(patient.stdout).problems, [offline])
  const withoutWaves = await jobcast(['trigger', ...target, '--soak', '1h'])
  assert.deepEqual([withoutWaves.code, /use --canary or --waves/.test(withoutWaves.stderr)], [2, true])
  const held = await jobcast(['trigger', ...target, ...flags, '--approval', '--wait'])
  assert.equal(held.code, 9, held.stderr)
  const [, runId = ''] = /Run (\d+) waits for approval \(0 of 3 released\)/.exec(held.stderr) ?? []
  assert.equal((await jobcast(['runs', 'approve', runId])).code, 3)
  const { apiKey } = await server.newKey(['APPROVE', 'READ'])
  const approved = await runJobcast(['runs', 'approve', runId, '--comment', 'good'], {
    ...access,
    JOBCAST_API_KEY: apiKey,
  })
  assert.match(approved.stdout, /rollout +ROLLING_OUT, wave 1 of 3, 1 of 3 released/)
  assert.match(approved.stdout, /^gate +0 of 1 SUCCEEDED/m)
  assert.match(approved.stdout, /^stop +0 of 0 ended, PAUSE at 5 % FAILED, TIMED_OUT or REJECTED$/m)
  await fail()
  const stopped = await jobcast(['runs', 'watch', runId])
  assert.equal(stopped.code, 10, stopped.stderr)
  assert.match(
    stopped.stderr,
    /is paused by stop rule \(1 of 3 released\): 1 of 1 ended executions of the run are FAILED/,
  )
  assert.equal((await jobcast(['runs', 'cancel', runId])).code, 0)
  assert.equal((await jobcast(['trigger', ...target, '--stop-at', '101%'])).code, 2)
})

test('fleet freeze says why and until when; unfreeze ends it', async () => {
  const frozen = await jobcast(['fleet', 'freeze', '--reason', 'no changes', '--until', '12h'])
  assert.match(frozen.stdout, /frozen +yes\nreason +no changes\n/)
  assert.equal((await jobcast(['fleet', 'unfreeze'])).code, 0)
  assert.match((await jobcast(['fleet'])).stdout, /frozen +no/)
})

test('--priority is that of the run, of a job and of a schedule; only 0 to 9 are allowed', async () => {
  await server.putJobAndDevices('ranked', ['ranked-1'])
  const target = ['-d', 'ranked-1']
  const made = await jobcast(['trigger', 'ranked', ...target, '--priority', '8', '--json'])
  assert.equal(made.code, 0, made.stderr)
  const { runId } = JSON.parse(made.stdout)
  assert.match((await jobcast(['runs', 'get', String(runId)])).stdout, /^priority +8$/m)
  assert.equal((await jobcast(['jobs', 'put', 'ranked', '--priority', '2'])).code, 0)
  assert.match((await jobcast(['jobs', 'get', 'ranked'])).stdout, /^priority +2$/m)
  const schedule = ['schedules', 'put', 'ranked', '--job', 'ranked', ...target, '--cron', '0 3 * * *']
  assert.equal((await jobcast([...schedule, '--priority', '0'])).code, 0)
  assert.match((await jobcast(['schedules', 'get', 'ranked'])).stdout, /^priority +0$/m)
  for (const wrong of ['10', '-1', 'high', '']) {
    const { code, stderr } = await jobcast(['trigger', 'ranked', ...target, `--priority=${wrong}`])
    assert.equal(code, 2, wrong)
    assert.match(stderr, /must be 0 to 9/)
  }
})
