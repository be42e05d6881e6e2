// jobcast runs, executions and events without a terminal.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DeviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { openCuttingProxy } from '@jobcast/testkit/cutting-proxy'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { runJobcast, startJobcast } from './run-jobcast.ts'
import { spawnJobcast } from './spawn-jobcast.ts'

const server = await openSharedServer()
const access = { JOBCAST_URL: server.http, JOBCAST_API_KEY: server.adminKey }
const jobcast = (...args: string[]) => runJobcast(args, access)
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await jobcast(...args, '--json')
  assert.ok(code === 0 || code === 6, stderr)
  return JSON.parse(stdout)
}

/** A run on one device whose execution has ended in this state. */
async function endedRun(
  jobName: string,
  status: string,
): Promise<{ id: string; device: DeviceCalls; runId: string }> {
  const device = await newDevice(server, `${jobName}-1`)
  await server.putJobAndDevices(jobName, [])
  const reply = await server.trigger(jobName, [device.deviceId])
  const { jobId } = (await device.startNext()).json.execution
  await device.output(jobId, 0, 'first line\nsecond')
  const report = await device.update(jobId, status, { statusDetails: { reason: 'because' } })
  assert.equal(report.status, 200, report.text)
  const runId = reply.headers.get('location')?.split('/').at(-1) ?? ''
  return { id: String(jobId), device, runId }
}

test('runs lists runs, newest first, up to --limit', async () => {
  await server.putJobAndDevices('list', ['list-1'])
  for (let i = 0; i < 3; i++) await server.trigger('list', ['list-1'])
  const { code, stdout, stderr } = await jobcast('runs', '--job', 'list', '--limit', '2')
  assert.equal(code, 0)
  assert.match(
    stdout,
    /^RUN +JOB +LAUNCHED +TOTAL +FINISHED +ROLLOUT +STATES\n(\d+ +list +[\d-]+ [\d:]+ +1 +no +1 PENDING\n){2}$/,
  )
  assert.match(stderr, /^More runs exist/)
  const ids = (await json('runs', 'ls', '--job', 'list')).map((run: { runId: number }) => run.runId)
  assert.equal(ids.length, 3)
  assert.deepEqual(
    ids,
    ids.toSorted((a: number, b: number) => b - a),
  )
})

test('runs get, cancel and watch agree', async () => {
  await server.putJobAndDevices('stop', ['stop-1'])
  const { runId } = await json('trigger', 'stop', '-d', 'stop-1')
  const shown = await jobcast('runs', 'get', `#${runId}`)
  assert.match(
    shown.stdout,
    new RegExp(
      `^run +${runId}\njob +stop\n(.*\n)*states +1 PENDING\nfinished +no\nby +key admin \\(key:\\w+\\)\n$`,
    ),
  )
  assert.equal((await json('runs', 'cancel', String(runId))).counts.CANCELED, 1)
  const watched = await jobcast('runs', 'watch', String(runId))
  assert.equal(watched.code, 6)
  assert.match(watched.stderr, /^stop-1: CANCELED \(execution \d+\)$/m)
  const again = await jobcast('runs', 'cancel', String(runId))
  assert.equal(again.code, 5, again.stderr)
})

test('runs retry and executions retry start a run of the unsuccessful executions', async (t) => {
  const { id, runId, device } = await endedRun('again', 'FAILED')
  const waiting = startJobcast(t, ['runs', 'retry', runId, '--wait'], access)
  await waiting.untilError(/^Run \d+: again on 1 device\n/)
  const { jobId } = (await device.startNext()).json.execution
  await device.update(jobId, 'SUCCEEDED')
  assert.equal(await waiting.ended, 0)
  const run = await json('executions', 'retry', id)
  assert.deepEqual([run.retryOf, run.total, run.finished], [Number(runId), 1, false])
  const foreign = await jobcast('runs', 'retry', runId, '--device', 'nobody')
  assert.equal(foreign.code, 5, foreign.stderr)
})

test('runs retry exits with 5 if all executions SUCCEEDED', async () => {
  const { runId } = await endedRun('fine', 'SUCCEEDED')
  const { code, stderr } = await jobcast('runs', 'retry', runId)
  assert.equal(code, 5)
  assert.match(stderr, /^jobcast: The run has no unsuccessful executions to retry \(J-305\)/)
})

test('executions ls filters, get explains, history and output show what happened', async () => {
  const { id, runId } = await endedRun('see', 'FAILED')
  const listed = await jobcast(
    'executions',
    'ls',
    '--state',
    'failed',
    '--run',
    runId,
    '-d',
    'see-1',
    '--job',
    'see',
  )
  assert.match(listed.stdout, new RegExp(`\n${id} +${runId} +see +see-1 +FAILED +1 .* because\n$`))
  assert.match(listed.stdout, / FINISHED +TOOK +DETAILS\n.*:\d\d +0:\d\d +because\n$/)
  assert.deepEqual(await json('executions', 'ls', '--run', runId, '--state', 'PENDING'), [])

  const shown = await jobcast('executions', 'get', id)
  assert.match(shown.stdout, /^why +FAILED: reported by the device.*\nreason +because$/m)
  assert.equal((await json('executions', 'get', id)).explanation.code, 'ENDED')

  const history = await jobcast('executions', 'history', id)
  assert.match(
    history.stdout,
    /PENDING +IN_PROGRESS +start +device +1 +-\n.*IN_PROGRESS +FAILED +fail +device +1 +because\n$/,
  )

  const output = await jobcast('executions', 'output', id)
  assert.equal(output.stdout, 'first line\nsecond')
  assert.equal((await json('executions', 'output', id)).text, 'first line\nsecond')
  assert.equal((await jobcast('executions', 'output', id, '--json', '-f')).code, 2)
})

test('executions ls shows how long a running execution has taken so far, and nothing for one that waits', async () => {
  const device = await newDevice(server, 'took-1')
  await server.putJobAndDevices('took', ['took-2'])
  await server.trigger('took', ['took-1', 'took-2'])
  await device.startNext()
  const took = async () => {
    const { stdout } = await jobcast('executions', 'ls', '--job', 'took')
    assert.match(stdout, /^\d+ .* took-2 +PENDING .*:\d\d +- +- *$/m)
    const [, seconds] =
      /^\d+ .* took-1 +IN_PROGRESS .*:\d\d +- +0:(\d\d) *$/m.exec(stdout) ?? assert.fail(stdout)
    return Number(seconds)
  }
  await waitUntil('a second has passed', async () => (await took()) >= 1)
})

test('executions output -f prints until the execution ends', async (t) => {
  await server.putJobAndDevices('live', [])
  const device = await newDevice(server, 'live-1')
  await server.trigger('live', ['live-1'])
  const { jobId } = (await device.startNext()).json.execution
  const following = startJobcast(t, ['executions', 'output', String(jobId), '-f'], access)
  await device.output(jobId, 0, 'one ')
  await following.until(/^one $/)
  await device.output(jobId, 4, 'two')
  await device.update(jobId, 'FAILED')
  assert.equal(await following.ended, 0)
  assert.equal(following.stdout(), 'one two')
})

test('executions watch prints each state change, and exits with 6 unless it SUCCEEDED', async (t) => {
  await server.putJobAndDevices('step', [])
  const device = await newDevice(server, 'step-1')
  await server.trigger('step', ['step-1'])
  const { jobExecutionId: id } = (await json('executions', 'ls', '--job', 'step'))[0]
  assert.equal((await jobcast('executions', 'watch', String(id), '--timeout', '1s')).code, 7)
  const watching = startJobcast(t, ['executions', 'watch', String(id)], access)
  await watching.untilError(/^[\d:]+ {2}PENDING\n/)
  await device.startNext()
  await device.update(id, 'FAILED', { statusDetails: { reason: 'no power' } })
  assert.equal(await watching.ended, 6)
  assert.match(watching.stderr(), /^[\d:]+ {2}FAILED: no power\n$/m)
  assert.match(watching.stdout(), /^state +FAILED$/m)
})

test('executions cancel exits with 5 if the execution has ended', async () => {
  const { id } = await endedRun('late', 'SUCCEEDED')
  const { code, stderr } = await jobcast('executions', 'cancel', id)
  assert.equal(code, 5)
  assert.match(stderr, /\(J-303\)/)
})

test('events prints lines of text or JSON, until Ctrl-C', async (t) => {
  await server.putJobAndDevices('event', ['event-1', 'event-2'])
  const listen = (...more: string[]) =>
    startJobcast(
      t,
      ['events', '--job', 'event', '--type', 'run.*', '--type', 'execution.pending', ...more],
      access,
    )
  const [people, program] = [listen(), listen('--json')]
  await Promise.all([people, program].map((each) => each.untilError(/^Listening for events/)))
  const reply = await server.trigger('event', ['event-1', 'event-2'])
  const runId = Number(reply.headers.get('location')?.split('/').at(-1))
  await people.until(new RegExp(`^[\\d:]+ {2}\\d+ {2}run\\.created {2}event #${runId} {2}2 executions\n`))
  await program.until(/\n/)
  const event = JSON.parse(program.stdout().split('\n')[0] ?? '')
  assert.deepEqual([event.type, event.data.runId], ['run.created', runId])
  assert.deepEqual(await Promise.all([people.end('SIGINT'), program.end('SIGINT')]), [0, 0])

  const after = startJobcast(
    t,
    ['events', '--after', String(event.eventId - 1), '--run', String(runId)],
    access,
  )
  await after.until(/run\.created/)
  assert.equal(await after.end('SIGINT'), 0)
})

test('events reconnects after the connection was cut, and says so', async (t) => {
  await server.putJobAndDevices('cut', ['cut-1'])
  const proxy = await openCuttingProxy(t, server.http)
  // Enough for the response headers and the start of the stream, not for an event.
  proxy.cutNext(400)
  const events = startJobcast(t, ['events', '--job', 'cut'], { ...access, JOBCAST_URL: proxy.url })
  await events.untilError(/^Listening for events/)
  await server.trigger('cut', ['cut-1'])
  await events.until(/run\.created/)
  await server.trigger('cut', ['cut-1'])
  await events.until(/run\.created[\s\S]*run\.created/)
  assert.match(events.stderr(), /^Reconnecting: /m)
  assert.equal(await events.end('SIGINT'), 0)
})

test('events exits with 2 for an invalid type, and lists the valid ones', async () => {
  const { code, stderr } = await jobcast('events', '--type', 'nonsense')
  assert.equal(code, 2)
  assert.match(stderr, /Allowed choices are run\.\*, .*, owner\.\*, run\.created, .*, owner\.created\.\n/)
})

test('exits with 0 if the reader closes the pipe', async (t) => {
  // More than fits into a pipe, so that the program is still writing when the reader stops.
  await server.call('PUT', '/job/api/jobs/pipe', { body: {} })
  const deviceIds = Array.from({ length: 600 }, (_, at) => `pipe-${'x'.repeat(100)}-${at}`)
  await server.putJobAndDevices('pipe', deviceIds)
  await server.trigger('pipe', deviceIds)
  const listing = spawnJobcast(t, ['executions', 'ls', '--job', 'pipe', '--limit', '600'], access)
  await listing.until(/pipe/)
  listing.closeStdout()
  assert.equal(await listing.ended, 0)
  assert.equal(listing.stderr(), '')
})

test('runs failures shows the reasons, and what the devices have in common', async () => {
  const { runId, device } = await endedRun('broken', 'FAILED')
  await server.call('PUT', `/job/api/devices/${device.deviceId}`, {
    body: { deviceName: 'b', tags: ['old ones'] },
  })
  const { code, stdout } = await jobcast('runs', 'failures', runId)
  assert.equal(code, 0)
  assert.match(
    stdout,
    /^COUNT +REASON +DEVICES\n1 +because +broken-1\n\nSHARED +UNSUCCESSFUL +SUCCEEDED\ntag="old ones" +1 of 1 +0 of 0\n$/,
  )
  const { total, reasons } = await json('runs', 'failures', runId)
  assert.deepEqual([total, reasons], [1, [{ reason: 'because', count: 1, sample: ['broken-1'] }]])
  const { runId: succeeded } = await endedRun('fine', 'SUCCEEDED')
  const none = await jobcast('runs', 'failures', succeeded)
  assert.deepEqual([none.code, none.stdout], [0, ''])
  assert.match(none.stderr, /^No execution of run \d+ was unsuccessful\.\n$/)
})

test('exits with 2 for an unknown command or an invalid argument', async () => {
  for (const [args, text] of [
    [['rnus'], /^error: unknown command 'rnus'\n\(Did you mean runs\?\)/],
    [
      ['runs', 'gte', '1'],
      /^error: unknown command 'gte'; the commands of runs are ls, get, watch, failures, cancel, retry/,
    ],
    [['runs', 'get', 'x'], /It must be an integer of at least 1/],
    [['executions', 'ls', '--state', 'DONE'], /Allowed choices are SUCCEEDED, /],
  ] as const) {
    const { code, stderr } = await jobcast(...args)
    assert.equal(code, 2)
    assert.match(stderr, text)
  }
})

test('exits with 4 if a run or execution does not exist', async () => {
  for (const args of [
    ['runs', 'get', '999999'],
    ['runs', 'watch', '999999'],
    ['runs', 'failures', '999999'],
    ['executions', 'get', '999999'],
    ['executions', 'watch', '999999'],
    ['executions', 'output', '999999', '-f'],
  ]) {
    const { code, stderr, stdout } = await jobcast(...args)
    assert.equal(code, 4, stderr)
    assert.match(
      stderr,
      /^jobcast: (Run|Execution) not found \(J-30[24]\): There is no (run|execution) 999999\.\n$/,
    )
    assert.equal(stdout, '')
  }
})
