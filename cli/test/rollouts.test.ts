// Rollouts in the terminal: flags, exit codes of a wait, and who has paused or denied a run.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { dataFolder, runJobcast, startJobcast } from './run-jobcast.ts'

const server = await openSharedServer({ maxDevices: 5 })
const access = { JOBCAST_URL: server.http, JOBCAST_API_KEY: server.adminKey }
const jobcast = (args: string[], key = server.adminKey) =>
  runJobcast(args, { ...access, JOBCAST_API_KEY: key })
const names = ['w0', 'w1', 'w2']
const devices = await Promise.all(names.map((name) => newDevice(server, name)))
const flags = names.flatMap((name) => ['-d', name])
await server.call('PUT', '/job/api/jobs/fw', { body: {} })

const runOf = async (runId: string) => (await server.call('GET', `/job/api/runs/${runId}`)).json

async function trigger(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await jobcast(['trigger', 'fw', ...flags, ...args, '--json'])
  assert.equal(code, 0, stderr)
  return String(JSON.parse(stdout).runId)
}

test('a failed canary stops the run, and a wait exits with 10 at once; ls and get show it', async (t) => {
  const waiting = startJobcast(
    t,
    ['trigger', 'fw', ...flags, '--order', 'given', '--canary', '1', '--waves', '100%', '--wait'],
    access,
  )
  let started: { execution?: { jobId: string } } = {}
  await waitUntil('the canary is offered', async () => {
    started = (await devices[0]?.startNext())?.json ?? {}
    return started.execution !== undefined
  })
  await devices[0]?.update(Number(started.execution?.jobId), 'FAILED')
  assert.equal(await waiting.ended, 10, waiting.stderr())
  const stderr = waiting.stderr()
  assert.match(
    stderr,
    /Run \d+ is paused by gate \(1 of 3 released\): 1 of 1 devices of wave 1 did not succeed; the gate needs 100 %\. See why: {2}jobcast runs failures \d+ {3}Resume it: {2}jobcast runs resume \d+ {3}Roll it back: /,
  )
  const [, runId = ''] = /^Run (\d+):/.exec(stderr) ?? []
  assert.equal((await jobcast(['runs', 'watch', runId])).code, 10)
  assert.match((await jobcast(['runs', 'ls'])).stdout, new RegExp(`ROLLOUT.*\\n${runId} .* PAUSED 1/2 `))
  await jobcast(['runs', 'cancel', runId])
  const canceled = await jobcast(['runs', 'watch', runId])
  assert.equal(canceled.code, 6, canceled.stderr)
  assert.match((await jobcast(['runs', 'get', runId])).stdout, /^aborted by +key admin \(key:\w+\)$/m)
})

test('who pauses and denies is named, and a second pause says that it is paused', async () => {
  const ops = await server.newKey(['MANAGE', 'READ'], { keyName: 'night-shift' })
  const runId = await trigger('--rate', '1')
  assert.equal((await jobcast(['runs', 'pause', runId], ops.apiKey)).code, 0)
  assert.match((await jobcast(['runs', 'get', runId])).stdout, /^paused by +key night-shift \(key:\w+\)$/m)
  assert.match(
    (await jobcast(['runs', 'watch', runId])).stderr,
    /is paused by key night-shift \(1 of 3 released\)/,
  )
  const again = await jobcast(['runs', 'pause', runId])
  assert.equal(again.code, 5)
  assert.match(again.stderr, new RegExp(`Run ${runId} is already paused: it was paused manually`))
  await jobcast(['runs', 'cancel', runId])

  const denier = await server.newKey(['APPROVE', 'READ'], { keyName: 'reviewer' })
  const second = await server.newKey(['APPROVE', 'READ'], { keyName: 'second' })
  const twice = await trigger('--approvals', '2')
  const one = await jobcast(['runs', 'approve', twice, '--comment', 'read it'], denier.apiKey)
  assert.match(one.stdout, /^approvals +1 of 2$/m)
  assert.match(one.stdout, /^decisions +APPROVED by key reviewer at .*: read it$/m)
  assert.match((await jobcast(['runs', 'watch', twice])).stderr, /waits for approval, 1 of 2 given/)
  assert.equal((await jobcast(['runs', 'approve', twice], denier.apiKey)).code, 5)
  assert.match(
    (await jobcast(['runs', 'approve', twice], second.apiKey)).stdout,
    /; APPROVED by key second at/,
  )
  await jobcast(['runs', 'cancel', twice])
  const asked = await trigger('--approval')
  assert.equal((await jobcast(['runs', 'watch', asked])).code, 9)
  assert.equal((await jobcast(['runs', 'deny', asked], denier.apiKey)).code, 0)
  await waitUntil('it is canceled', async () => (await runOf(asked)).finished)
  assert.equal((await jobcast(['runs', 'watch', asked])).code, 6)
  const { items } = (await server.call('GET', `/job/api/executions?runId=${asked}`)).json
  const { text } = (await server.call('GET', `/job/api/executions/${items[0].jobExecutionId}/explain`)).json
  assert.match(text, /its run was stopped by key reviewer before this was released/)
})

test('without --wait, a trigger says what holds the run back, until when, and how to continue', async (t) => {
  const start = async (job: string, ...args: string[]) => {
    const { code, stderr } = await jobcast(['trigger', job, ...flags, ...args])
    assert.equal(code, 0, stderr)
    const [, runId = ''] = /^Run (\d+):/.exec(stderr) ?? []
    await jobcast(['runs', 'cancel', runId])
    return { stderr, runId }
  }
  await server.call('PUT', '/job/api/jobs/careful', { body: { approval: true, expireAfterSeconds: 3600 } })
  for (const args of [[], ['--canary', '1', '--waves', '100%']]) {
    const { stderr, runId } = await start('careful', ...args)
    assert.match(stderr, new RegExp(`^Run ${runId} waits for approval by somebody who has not `, 'm'))
    assert.match(stderr, new RegExp(`  jobcast runs approve ${runId}\nWatch it: `))
  }
  assert.match((await start('fw', '--start-at', '2h')).stderr, /^Run \d+ starts at \S+Z\.\nWatch it: /m)
  const leapDays = { cron: '0 2 29 2 *', durationMinutes: 1, timeZone: 'UTC' }
  assert.equal((await server.call('PUT', '/job/api/windows/later', { body: leapDays })).status, 201)
  assert.match((await start('fw', '--window', 'later')).stderr, /^.*indow later .*-02-29.*\nWatch it: /m)
  assert.doesNotMatch((await start('fw')).stderr, /^(?!Run \d+: |Watch it: )./m)
  t.after(() => jobcast(['fleet', 'unfreeze']))
  await jobcast(['fleet', 'freeze', '--reason', 'a fair'])
  const frozen = await start('fw', '--canary', '1', '--waves', '100%')
  assert.match(frozen.stderr, /^The fleet was frozen .*: a fair\..* {2}jobcast fleet unfreeze\nWatch it: /m)
})

test('--dry-run prints rate, gate, soak and stop rules, and flags take fractions and a selector', async () => {
  const rules = [
    '--canary',
    '1',
    '--canary-where',
    'deviceId=w2',
    '--waves',
    '33.5%,100%',
    '--success',
    '99.9%',
  ]
  const more = [
    '--rate',
    '200',
    '--soak',
    '1h',
    '--stop-at',
    '0.5%',
    '--max-under-way',
    '50',
    '--budget',
    'site=1',
  ]
  const { code, stdout, stderr } = await jobcast(['trigger', 'fw', ...flags, ...rules, ...more, '--dry-run'])
  assert.equal(code, 0, stderr)
  for (const words of [
    /^waves +1, 2$/m,
    /^rate +200 per minute$/m,
    /^in flight +at most 50$/m,
    /^budget +at most 1 in flight per site$/m,
    /^gate +99\.9 % of a wave SUCCEEDED$/m,
    /^soak +1:00:00 after each wave$/m,
    /^stop +PAUSE at 0\.5 % FAILED, TIMED_OUT or REJECTED$/m,
    /^sample +w2, (w0, w1|w1, w0)$/m,
  ])
    assert.match(stdout, words)
  for (const wrong of ['0%', '101%', '5'])
    assert.equal((await jobcast(['trigger', 'fw', ...flags, '--canary', '1', '--success', wrong])).code, 2)
  for (const wrong of ['site', 'site=0', '=1', 'site=x'])
    assert.equal((await jobcast(['trigger', 'fw', ...flags, '--budget', wrong])).code, 2)
})

test('runs rollback stops the run, and names the first one when it is asked for twice', async () => {
  await server.call('PUT', '/job/api/jobs/fw', { body: { document: { n: 2 } } })
  const runId = await trigger('--canary', '1', '--order', 'given')
  await waitUntil('it is released', async () => (await runOf(runId)).rollout.released === 1)
  const back = await jobcast(['runs', 'rollback', runId, '--note', 'boot loops', '--json'])
  assert.equal(back.code, 0, back.stderr)
  const made = JSON.parse(back.stdout)
  assert.deepEqual([made.total, made.rollbackOf, made.note], [1, Number(runId), 'boot loops'])
  const twice = await jobcast(['runs', 'rollback', runId])
  assert.equal(twice.code, 5)
  assert.match(
    twice.stderr,
    new RegExp(`rolled back before \\(J-317\\): Run ${made.runId} has rolled back run ${runId}`),
  )
  assert.equal((await jobcast(['runs', 'rollback', runId, '--again', '-d', 'w0'])).code, 0)
})

test('apply answers a wrong wave size with one line that names the field', async (t) => {
  const file = join(dataFolder(t), 'wrong.yaml')
  writeFileSync(file, 'jobs:\n  fw2:\n    rollout:\n      waves:\n        - size: 0%\n')
  const { code, stderr } = await jobcast(['apply', '-f', file])
  assert.equal(code, 5)
  const lines = stderr.split('\n').filter((line) => line.includes('fw2'))
  assert.equal(lines.length, 1, stderr)
  assert.match(lines[0] ?? '', /rollout\.waves\.0\.size: must be a number of devices, or a percentage/)
})
