// Schedules as callers and devices see them, on one real server whose wall clock the tests set.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { EventListener } from '@jobcast/testkit/event-listener'
import { buildClock, openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { assertRefused } from './assert-reply.ts'

const hourMs = 60 * 60_000
const dayMs = 24 * hourMs
// Stands at 2026-11-15T09:30:00Z until it is set.
const clock = buildClock()
const api = await openSharedServer({ now: clock.now })
const url = '/job/api/schedules'
await api.call('PUT', '/job/api/jobs/collect', { body: {} })

type Run = {
  runId: number
  scheduleName: string
  scheduledFor: string
  total: number
  matched: number
  counts: Record<string, number>
}
type Event = { type: string; data: Record<string, unknown> & { scheduleName: string } }

let made = 0
/** A schedule of a device of its own, each night at three in UTC. */
async function newSchedule(more: object = {}) {
  const name = `s${++made}`
  const device = await newDevice(api, `${name}-device`)
  const content = {
    jobName: 'collect',
    targets: { deviceIds: [`${name}-device`] },
    when: { cron: '0 3 * * *' },
    ...more,
  }
  const reply = await api.call('PUT', `${url}/${name}`, { body: content })
  assert.equal(reply.status, 201, JSON.stringify(reply.json))
  return { name, device, content, path: `${url}/${name}` }
}

const read = async (path: string) => (await api.call('GET', path)).json
const runsOf = async (name: string): Promise<Run[]> =>
  (await read(`/job/api/runs?scheduleName=${name}`)).items

const listener = await EventListener.open(api.http, api.adminKey, { query: '?types=schedule.*' })
after(() => listener.close())
const eventsOf = (name: string): Event[] =>
  (listener.events as unknown as Event[]).filter(({ data }) => data.scheduleName === name)

async function waitForEvent(name: string, type: string): Promise<Event['data']> {
  const find = () => eventsOf(name).find((each) => each.type === type)
  await listener.until(() => find() !== undefined)
  return (find() as Event).data
}

async function waitForRuns(name: string, count: number): Promise<Run[]> {
  let runs: Run[] = []
  await waitUntil(`${name} has ${count} runs`, async () => {
    runs = await runsOf(name)
    return runs.length >= count
  })
  assert.equal(runs.length, count)
  return runs
}

/** To the next hour of this number. */
function forwardTo(hour: number, minutes = 0): void {
  const midnight = Math.floor(clock.now() / dayMs) * dayMs
  const at = midnight + hour * hourMs + minutes * 60_000
  clock.forward((at > clock.now() ? at : at + dayMs) - clock.now())
}

/** All occurrences up to now are through. */
async function settled(path: string): Promise<void> {
  await waitUntil('what was due is through', async () => {
    const { nextAt, paused } = await read(path)
    return paused || nextAt === null || Date.parse(nextAt) > clock.now()
  })
}

test('an occurrence creates one run, which names its schedule', async () => {
  const { name, path } = await newSchedule()
  assert.equal((await read(path)).nextAt, '2026-11-16T03:00:00.000Z')
  forwardTo(3)
  const [run] = await waitForRuns(name, 1)
  assert.deepEqual([run?.scheduleName, run?.scheduledFor], [name, '2026-11-16T03:00:00.000Z'])
  const { principal, ...fired } = await waitForEvent(name, 'schedule.fired')
  assert.deepEqual(fired, {
    ...{ scheduleName: name, jobName: 'collect', scheduledFor: run?.scheduledFor },
    ...{ runId: run?.runId, matched: 1, skipped: 0 },
  })
  assert.equal(principal, 'service')
  const shown = await read(path)
  assert.deepEqual(
    [shown.lastRunId, shown.lastScheduledFor, shown.nextAt],
    [run?.runId, run?.scheduledFor, '2026-11-17T03:00:00.000Z'],
  )
})

test('a device that was off for ten nights gets one execution; REPLACE leaves the newest, QUEUE all', async () => {
  const skip = await newSchedule()
  const replace = await newSchedule({ overlap: 'REPLACE' })
  const queue = await newSchedule({ overlap: 'QUEUE' })
  for (let night = 0; night < 10; night++) {
    forwardTo(3)
    for (const { path } of [skip, replace, queue]) await settled(path)
  }
  await waitForRuns(skip.name, 1)
  const replaced = await waitForRuns(replace.name, 10)
  await waitUntil('all but the newest are canceled', async () =>
    (await runsOf(replace.name)).every(
      ({ counts }, index) => counts[index === 0 ? 'PENDING' : 'CANCELED'] === 1,
    ),
  )
  const oldest = (await read(`/job/api/executions?runId=${replaced.at(-1)?.runId}`)).items[0]
  const history = await read(`/job/api/executions/${oldest.jobExecutionId}/history`)
  assert.equal(history.items.at(-1).event, 'superseded')
  await waitForRuns(queue.name, 10)
  for (const { device } of [skip, replace]) {
    const next = (await device.startNext()).json.execution
    assert.equal((await device.update(next.jobId, 'SUCCEEDED')).status, 200)
    assert.equal((await device.startNext()).json.execution, undefined)
  }
})

test('after downtime the latest occurrence runs if it is not too late; the others are one event', async () => {
  const late = await newSchedule({ when: { cron: '0 * * * *' }, catchUpSeconds: 3600 })
  const tooLate = await newSchedule({ when: { cron: '0 3 * * *' }, catchUpSeconds: 3600 })
  forwardTo(3, 1)
  clock.forward(2 * dayMs + 2 * hourMs)
  const [run] = await waitForRuns(late.name, 1)
  assert.equal(Date.parse(run?.scheduledFor ?? ''), clock.now() - 60_000)
  const missed = await waitForEvent(late.name, 'schedule.missed')
  assert.ok(Number(missed.count) >= 49)
  const all = await waitForEvent(tooLate.name, 'schedule.missed')
  assert.equal(all.count, 2)
  assert.deepEqual(await runsOf(tooLate.name), [])
})

test('a wall clock that is set back or forward makes no run twice, and none is lost', async () => {
  const { name, path } = await newSchedule({ overlap: 'QUEUE' })
  forwardTo(3)
  await waitForRuns(name, 1)
  for (const step of [-2, -3600, -2 * 3600, 3600 + 2, 2 * 3600]) {
    clock.forward(step * 1000)
    await waitUntil('it is planned', async () => Date.parse((await read(path)).nextAt) > clock.now())
  }
  // A year ahead by mistake, and back: the nights in between are not forgotten.
  clock.forward(365 * dayMs)
  await waitUntil('it is planned', async () => Date.parse((await read(path)).nextAt) > clock.now())
  const before = (await runsOf(name)).length
  clock.forward(-365 * dayMs)
  await waitUntil('it is planned', async () => Date.parse((await read(path)).nextAt) <= clock.now() + dayMs)
  forwardTo(3)
  const runs = await waitForRuns(name, before + 1)
  assert.equal(new Set(runs.map(({ scheduledFor }) => scheduledFor)).size, runs.length)
})

test('it is paused after so many failed runs in a row, and resumed by somebody', async () => {
  const { name, path, device } = await newSchedule({ pauseAfterFailures: 2 })
  for (let night = 1; night <= 2; night++) {
    forwardTo(3)
    await waitForRuns(name, night)
    const { execution } = (await device.startNext()).json
    await device.update(execution.jobId, 'FAILED')
  }
  const { because, principal } = await waitForEvent(name, 'schedule.paused')
  assert.deepEqual([because, principal], ['2 runs in a row have failed', 'service'])
  const paused = await read(path)
  assert.deepEqual([paused.paused, paused.failures, paused.nextAt], [true, 2, null])
  forwardTo(3)
  const resumed = (await api.call('POST', `${path}/resume`)).json
  assert.deepEqual([resumed.paused, resumed.failures], [false, 0])
  assert.equal(Date.parse(resumed.nextAt), clock.now() + dayMs)
  await waitForRuns(name, 2)
})

test('pause, resume, next and fire do what they say', async () => {
  const when = { cron: '30 2 * * *', timeZone: 'Europe/Berlin' }
  const { name, path, device } = await newSchedule({ when })
  const next = await read(`${path}/next?count=2`)
  assert.equal(next.length, 2)
  assert.match(next[0].local, /T02:30\+0[12]:00$/)
  assert.equal((await api.call('POST', `${path}/pause`)).json.pausedBecause, 'it was paused manually')
  const fired = await api.call('POST', `${path}/fire`)
  assert.equal(fired.status, 201, fired.text)
  assert.equal(fired.json.scheduleName, name)
  assertRefused(await api.call('POST', `${path}/fire`), 'J-504')
  const { execution } = (await device.startNext()).json
  await device.update(execution.jobId, 'SUCCEEDED')
  assert.equal((await api.call('POST', `${path}/fire`)).status, 201)
  assert.match(String((await waitForEvent(name, 'schedule.fired')).principal), /^key:/)
  const other = await api.newKey(['READ'])
  assertRefused(await api.call('POST', `${path}/pause`, { key: other.apiKey }), 'J-804', 'MANAGE')
  assertRefused(await api.call('POST', `${path}/fire`, { key: other.apiKey }), 'J-804', 'TRIGGER')
  assert.equal((await api.call('DELETE', path)).status, 204)
  for (const [method, rest] of [
    ...[
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/next'],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['POST', '/fire'],
    ],
  ])
    assertRefused(await api.call(method ?? '', `${path}${rest}`), 'J-310')
})

test('excepted dates are left out, from the next change on', async () => {
  const { path, content } = await newSchedule({ when: { cron: '@daily' } })
  const [first, second] = await read(`${path}/next?count=2`)
  const except = [first.at.slice(0, 10)]
  const changed = await api.call('PUT', path, { body: { ...content, except } })
  assert.deepEqual([changed.json.nextAt, changed.json.except], [second.at, except])
  assert.equal((await read(`${path}/next?count=1`))[0].at, second.at)
})

test('a schedule of a deleted job is paused, and says why', async () => {
  await api.call('PUT', '/job/api/jobs/short-lived', { body: {} })
  const { name, path, content } = await newSchedule({ jobName: 'short-lived' })
  await api.call('DELETE', '/job/api/jobs/short-lived?force=true')
  const { because } = await waitForEvent(name, 'schedule.paused')
  assert.equal(because, 'the job short-lived was deleted')
  assert.equal((await read(path)).pausedBecause, because)
  assertRefused(await api.call('POST', `${path}/resume`), 'J-301')
  assertRefused(await api.call('PUT', path, { body: content }), 'J-301')
  assertRefused(await api.call('POST', `${path}/fire`), 'J-301')
  // Events come in order: by then a second one would be here.
  const other = await newSchedule()
  await api.call('POST', `${other.path}/pause`)
  await waitForEvent(other.name, 'schedule.paused')
  assert.deepEqual(
    eventsOf(name).map(({ type }) => type),
    ['schedule.changed', 'schedule.paused'],
  )
})

test('runs are found by the name of their schedule, also when it is deleted and created again', async () => {
  const { name, path, content } = await newSchedule()
  const { runId } = (await api.call('POST', `${path}/fire`)).json
  const found = async () => (await runsOf(name)).map((run) => run.runId)
  assert.deepEqual(await found(), [runId])
  await api.call('DELETE', path)
  assert.deepEqual(await found(), [runId])
  assert.equal((await api.call('PUT', path, { body: { ...content, overlap: 'QUEUE' } })).status, 201)
  const again = (await api.call('POST', `${path}/fire`)).json
  assert.deepEqual(await found(), [again.runId, runId])
  const owner = await api.newOwner('Elsewhere')
  const elsewhere = await api.call('GET', `/job/api/runs?scheduleName=${name}`, { key: owner.key })
  assert.deepEqual(elsewhere.json.items, [])
})

test('a schedule may be bound to a version of its job', async () => {
  await api.call('PUT', '/job/api/jobs/versioned', { body: { description: 'one' } })
  await api.call('PUT', '/job/api/jobs/versioned', { body: { description: 'two' } })
  const { path, content } = await newSchedule({ jobName: 'versioned', version: 1 })
  assert.equal((await api.call('POST', `${path}/fire`)).json.version, 1)
  assertRefused(await api.call('PUT', path, { body: { ...content, version: 9 } }), 'J-313')
})

test('a schedule gives its runs their parameters and their window', async () => {
  const properties = { level: { type: 'string', enum: ['info', 'debug'] } }
  const parameters = { type: 'object', properties, required: ['level'] }
  const job = { parameters, document: { level: '${params.level}' } }
  assert.equal((await api.call('PUT', '/job/api/jobs/with-values', { body: job })).status, 201)
  const night = { cron: '0 2 * * *', durationMinutes: 60, timeZone: 'UTC' }
  assert.equal((await api.call('PUT', '/job/api/windows/short', { body: night })).status, 201)
  const given = { parameters: { level: 'debug' }, window: 'short' }
  const { path, content } = await newSchedule({ jobName: 'with-values', ...given })
  const run = (await api.call('POST', `${path}/fire`)).json
  assert.deepEqual([run.parameters, run.window], [{ level: 'debug' }, 'short'])
  for (const wrong of [undefined, {}, { level: 'loud' }, { level: 'info', other: 1 }]) {
    assertRefused(await api.call('PUT', path, { body: { ...content, parameters: wrong } }), 'J-500')
  }
})

test('one whose group is gone is paused when it is due', async () => {
  await api.call('PUT', '/job/api/groups/fading', { body: { where: 'tag=fading' } })
  const { name } = await newSchedule({ targets: { group: 'fading' } })
  await api.call('DELETE', '/job/api/groups/fading?force=true')
  forwardTo(3)
  assert.match(String((await waitForEvent(name, 'schedule.paused')).because), /J-309.*fading/)
})

test('at runs once, and jitter is the same every time', async () => {
  const at = new Date(clock.now() + hourMs).toISOString()
  const { name, path } = await newSchedule({ when: { at }, jitterSeconds: 600 })
  clock.forward(hourMs + 600_000)
  const [run] = await waitForRuns(name, 1)
  assert.equal(run?.scheduledFor, at)
  assert.equal((await read(path)).nextAt, null)
  assert.deepEqual(await read(`${path}/next`), [])
  const before = await read(path)
  const again = await api.call('PUT', path, { body: { ...(await newSchedule()).content, when: { at } } })
  assert.equal(again.status, 200)
  assert.equal(before.scheduleName, again.json.scheduleName)
  // It would run a second time.
  const once = { ...(await newSchedule()).content, when: { at } }
  await api.call('DELETE', path)
  assertRefused(await api.call('PUT', path, { body: once }), 'J-500')
})

test('a pause says with what the last run was refused', async () => {
  await api.call('PUT', '/job/api/jobs/changing', { body: {} })
  const { name } = await newSchedule({ jobName: 'changing', pauseAfterFailures: 1 })
  const parameters = { type: 'object', properties: { s: { type: 'string' } }, required: ['s'] }
  const job = { parameters, document: { s: '${params.s}' } }
  assert.equal((await api.call('PUT', '/job/api/jobs/changing', { body: job })).status, 200)
  forwardTo(3)
  const { because } = await waitForEvent(name, 'schedule.paused')
  assert.equal(because, 'a run has failed, the last one: J-500: parameters.s is required.')
})

test('a schedule lists devices that exist; one that is deleted later may remain in the list', async () => {
  const { name, path, content } = await newSchedule()
  const deviceIds = [`${name}-device`, `${name}-typo`]
  const wrong = await api.call('PUT', path, { body: { ...content, targets: { deviceIds } } })
  assertRefused(wrong, 'J-001')
  await api.call('DELETE', `/job/api/devices/${name}-device`)
  assert.equal((await api.call('PUT', path, { body: content })).status, 200)
  const { description } = (await api.call('PUT', path, { body: { ...content, description: 'x' } })).json
  assert.equal(description, 'x')
})

test('a run with startAt is held until then, and says so', async () => {
  const device = await newDevice(api, 'early-bird')
  const startAt = new Date(clock.now() + hourMs).toISOString()
  const body = { jobName: 'collect', targets: { deviceIds: ['early-bird'] }, startAt }
  const reply = await api.call('POST', '/job/api/runs', { body })
  assert.equal(reply.status, 201, reply.text)
  assert.deepEqual([reply.json.rollout.state, reply.json.rollout.nextAt], ['SCHEDULED', startAt])
  const [execution] = (await read(`/job/api/executions?runId=${reply.json.runId}`)).items
  const why = await read(`/job/api/executions/${execution.jobExecutionId}/explain`)
  assert.deepEqual([why.code, why.until], ['SCHEDULED', startAt])
  assert.equal((await device.startNext()).json.execution, undefined)
  clock.forward(hourMs)
  await waitUntil('it is released', async () => (await device.startNext()).json.execution !== undefined)
  for (const wrong of [clock.now() - hourMs, clock.now() + 400 * dayMs]) {
    const late = { ...body, startAt: new Date(wrong).toISOString() }
    assertRefused(await api.call('POST', '/job/api/runs', { body: late }), 'J-500')
  }
})

const put = (deviceId: string, body: object) => api.call('PUT', `/job/api/devices/${deviceId}`, { body })
const report = (device: Awaited<ReturnType<typeof newDevice>>, attributes: object) =>
  fetch(`${api.http}/things/${device.deviceId}/attributes`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${device.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(attributes),
  })

async function devicesOf(runs: Run[]): Promise<string[]> {
  const pages = await Promise.all(runs.map(({ runId }) => read(`/job/api/executions?runId=${runId}`)))
  return pages.flatMap(({ items }) => items.map(({ deviceId }: { deviceId: string }) => deviceId)).sort()
}

test('match gives each device the job once: those that match, and those that start to', async () => {
  await put('m-now', { tags: ['m'], attributes: { fw: '2.3' } })
  const reporting = await newDevice(api, 'm-reports')
  await put('m-reports', { tags: ['m'] })
  const content = { when: { match: true }, targets: { where: 'tag=m and fw<2.4' } }
  const { name, path } = await newSchedule(content)
  assert.deepEqual(await devicesOf(await waitForRuns(name, 1)), ['m-now'])
  await put('m-new', { tags: ['m'], attributes: { fw: '1.0' } })
  await waitForRuns(name, 2)
  await report(reporting, { fw: '2.2', other: 1 })
  await waitForRuns(name, 3)
  await put('m-tagged', { attributes: { fw: '2' } })
  await put('m-tagged', { attributes: { fw: '2' }, tags: ['m'] })
  const all = ['m-new', 'm-now', 'm-reports', 'm-tagged']
  assert.deepEqual(await devicesOf(await waitForRuns(name, 4)), all)
  // Neither one that stops and starts to match again, nor one that never does.
  await report(reporting, { fw: '2.5' })
  await report(reporting, { fw: '2.1' })
  await put('m-other', { tags: ['m'], attributes: { fw: '3' } })
  await put('m-last', { tags: ['m'], attributes: { fw: '2' } })
  assert.deepEqual(await devicesOf(await waitForRuns(name, 5)), [...all, 'm-last'].sort())
  assertRefused(await api.call('POST', `${path}/fire`), 'J-504')
  assert.equal((await read(path)).nextAt, null)
})

test('a device that lacks an attribute which the document needs is left out until it has it', async () => {
  const job = (name: string) => ({ body: { document: { at: `\${device.attributes.${name}}` } } })
  assert.equal((await api.call('PUT', '/job/api/jobs/needy', job('rack'))).status, 201)
  await put('n-has', { tags: ['n'], attributes: { rack: 'r1' } })
  await put('n-lacks', { tags: ['n'] })
  const targets = { where: 'tag=n' }
  const { name } = await newSchedule({ jobName: 'needy', when: { match: true }, targets })
  assert.deepEqual(await devicesOf(await waitForRuns(name, 1)), ['n-has'])
  await put('n-new', { tags: ['n'], attributes: { rack: 'r2' } })
  await waitForRuns(name, 2)
  await put('n-lacks', { tags: ['n'], attributes: { rack: 'r3' } })
  assert.deepEqual(await devicesOf(await waitForRuns(name, 3)), ['n-has', 'n-lacks', 'n-new'])
  assert.deepEqual(
    eventsOf(name).filter(({ type }) => type !== 'schedule.fired' && type !== 'schedule.changed'),
    [],
  )
  // A job that needs less than before.
  await put('n-bare', { tags: ['n'] })
  await api.call('PUT', '/job/api/jobs/needy', { body: { document: {} } })
  await waitForRuns(name, 4)
  const nightly = await newSchedule({ jobName: 'needy', targets })
  await api.call('PUT', '/job/api/jobs/needy', job('rack'))
  const run = (await api.call('POST', `${nightly.path}/fire`)).json
  assert.deepEqual([run.matched, run.total], [4, 3])
})

test('with match a changed group is looked at as a whole', async () => {
  await put('g-1', { tags: ['g1'] })
  await put('g-2', { tags: ['g2'] })
  await api.call('PUT', '/job/api/groups/growing', { body: { where: 'tag=g1' } })
  const { name } = await newSchedule({ when: { match: true }, targets: { group: 'growing' } })
  await waitForRuns(name, 1)
  await api.call('PUT', '/job/api/groups/growing', { body: { where: 'tag=g1 or tag=g2' } })
  assert.deepEqual(await devicesOf(await waitForRuns(name, 2)), ['g-1', 'g-2'])
})

test('with match one whose group is gone is paused, and says why', async () => {
  await api.call('PUT', '/job/api/groups/leaving', { body: { where: 'tag=leaving' } })
  const { name, path } = await newSchedule({ targets: { group: 'leaving' }, when: { match: true } })
  assert.equal((await api.call('DELETE', '/job/api/groups/leaving?force=true')).status, 204)
  const { because } = await waitForEvent(name, 'schedule.paused')
  assert.equal(because, 'J-309: There is no group "leaving".')
  const { paused, pausedBecause } = await read(path)
  assert.deepEqual([paused, pausedBecause], [true, because])
})

test('with match a run waits until the one before is released, and stops with it', async () => {
  await put('w-1', { tags: ['w'] })
  const { name, path } = await newSchedule({
    when: { match: true },
    targets: { where: 'tag=w' },
    approval: true,
  })
  const [first] = await waitForRuns(name, 1)
  await put('w-2', { tags: ['w'] })
  const approver = await api.newKey(['APPROVE'])
  const approve = (run: Run | undefined, what: string) =>
    api.call('POST', `/job/api/runs/${run?.runId}/${what}`, { key: approver.apiKey, body: {} })
  await put('w-3', { tags: ['w'] })
  assert.equal((await runsOf(name)).length, 1)
  await approve(first, 'approve')
  const [second] = await waitForRuns(name, 2)
  assert.equal(second?.total, 2)
  await approve(second, 'deny')
  await put('w-4', { tags: ['w'] })
  const { because } = await waitForEvent(name, 'schedule.paused')
  assert.equal(because, `its run ${second?.runId} was stopped`)
  assert.equal((await read(path)).paused, true)
})

test('invalid schedules are refused, with the field', async () => {
  const good = { jobName: 'collect', targets: { where: 'all' }, when: { cron: '0 3 * * *' } }
  const refused: [object, string, string][] = [
    [{ when: { cron: '0 0 31 2 *' } }, 'J-507', 'when.cron'],
    [{ when: { cron: '0 0 3 * * *' } }, 'J-507', 'when.cron'],
    [{ when: { cron: '0 3 * * *', timeZone: 'Mars/Olympus' } }, 'J-507', 'when.timeZone'],
    [{ when: { cron: '0 3 * * *', at: '2027-01-01T00:00:00Z' } }, 'J-500', 'when'],
    [{ when: { timeZone: 'UTC' } }, 'J-500', 'when'],
    [{ when: { at: '2027-01-01T00:00:00Z', timeZone: 'UTC' } }, 'J-500', 'when.timeZone'],
    [{ when: { at: '2001-01-01T00:00:00Z' } }, 'J-500', 'when.at'],
    [{ when: { at: new Date(clock.now() - 1000).toISOString() } }, 'J-500', 'when.at'],
    [{ when: { at: '2027-02-30T00:00:00Z' } }, 'J-500', 'when.at'],
    [{ except: ['2026-02-30'] }, 'J-500', 'except[0]'],
    [{ except: ['2026-12-24', '2027-01-02/2026-12-24'] }, 'J-500', 'except[1]'],
    [{ except: ['tomorrow'] }, 'J-500', 'except[0]'],
    [{ when: { match: true }, targets: { where: 'all' }, except: ['2026-12-24'] }, 'J-500', 'except'],
    [{ when: { match: false } }, 'J-500', 'when.match'],
    [{ when: { cron: '0 3 * * *', again: 'WHILE_MATCHING' } }, 'J-500', 'when.again'],
    [{ when: { match: true, again: 'ALWAYS' } }, 'J-500', 'when.again'],
    [{ when: { cron: '0 3 * * *', onLeave: 'CANCEL' } }, 'J-500', 'when.onLeave'],
    [{ when: { match: true, onLeave: 'KEEP' } }, 'J-500', 'when.onLeave'],
    [{ when: { match: true, backOffSeconds: 5 } }, 'J-500', 'when.backOffSeconds'],
    [{ when: { match: true, again: 'WHILE_MATCHING', backOffSeconds: 0 } }, 'J-500', 'when.backOffSeconds'],
    [{ when: { match: true, onLeave: 'CANCEL', backOffSeconds: 86_401 } }, 'J-500', 'when.backOffSeconds'],
    [{ when: { match: true, again: 'ON_NEW_VERSION' }, overlap: 'QUEUE' }, 'J-500', 'overlap'],
    [{ when: { match: true }, targets: { deviceIds: ['s1-device'] } }, 'J-500', 'targets'],
    [{ until: '2001-01-01T00:00:00Z' }, 'J-500', 'until'],
    [{ catchUpSeconds: -1 }, 'J-500', 'catchUpSeconds'],
    [{ jitterSeconds: 86_401 }, 'J-500', 'jitterSeconds'],
    [{ pauseAfterFailures: 0 }, 'J-500', 'pauseAfterFailures'],
    [{ overlap: 'DOUBLE' }, 'J-500', 'overlap'],
    [{ targets: { where: 'tag=' } }, 'J-503', 'targets.where'],
    [{ targets: { group: 'nobody' } }, 'J-309', 'targets.group'],
    [
      { targets: { deviceIds: Array.from({ length: 1001 }, (_, n) => `d${n}`) } },
      'J-500',
      'targets.deviceIds',
    ],
    [{ rollout: { growth: { factor: 2, afterSucceeded: 1 } } }, 'J-500', 'rollout.growth'],
    [{ unknown: 1 }, 'J-500', 'unknown'],
  ]
  const headers = { accept: 'application/problem+json' }
  for (const [wrong, code, field] of refused) {
    const { json } = await api.call('PUT', `${url}/refused`, { body: { ...good, ...wrong }, headers })
    assert.deepEqual([json.code, json.field], [code, field], JSON.stringify(wrong))
  }
  assertRefused(await api.call('PUT', `${url}/refused`, { body: { ...good, jobName: 'no-job' } }), 'J-301')
  const body = { ...good, when: { match: false } }
  const unmatched = await api.call('PUT', `${url}/refused`, { body, headers })
  assert.equal(unmatched.json.detail, 'when.match must be true.')
})
