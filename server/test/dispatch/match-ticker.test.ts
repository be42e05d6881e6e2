// Schedules that run as soon as a device matches: those of one owner do not slow down others. Work is measured by the number of
// calls of the store.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MatchTicker } from '../../src/dispatch/match-ticker.ts'
import { noQuotas } from '../../src/domain/access/quotas.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import { openApp } from '../http/open-app.ts'

async function open(t: TestContext, quotas = noQuotas) {
  const opened = await openApp(t, { quotas })
  const { app, adminKey, parts } = opened
  const put = async (path: string, body: object, key = adminKey) => {
    const headers = { 'x-api-key': key }
    const { statusCode, payload } = await app.inject({
      method: 'PUT',
      url: `/job/api/${path}`,
      headers,
      payload: body,
    })
    return { status: statusCode, text: payload }
  }
  const calls = new Map<string, number>()
  const failures: unknown[] = []
  const broken = new Set<string>()
  const store = new Proxy(parts.store, {
    get(target, name: keyof Store & string) {
      const step = target[name] as unknown
      if (typeof step !== 'function') return step
      return (...given: unknown[]) => {
        calls.set(name, (calls.get(name) ?? 0) + 1)
        if (broken.has(name)) throw new Error(`${name} is broken`)
        return step.apply(target, given)
      }
    },
  })
  const clock = { ms: 0 }
  const moment = () => {
    const now = parts.moment()
    return { ...now, clock: (now.clock + clock.ms) as typeof now.clock }
  }
  const onFailure = (error: unknown) => failures.push(error)
  const deps = { ...parts, store, moment, onFailure, onDone: () => undefined }
  const ticker = new MatchTicker(deps, parts.link)
  const tick = async () => {
    calls.clear()
    await ticker.tick()
    return Array.from(calls.values()).reduce((sum, count) => sum + count, 0)
  }
  return { ...opened, put, tick, calls, failures, broken, clock }
}

type Opened = Awaited<ReturnType<typeof open>>

async function putSchedules({ put }: Opened, count: number, group: (index: number) => string): Promise<void> {
  for (let index = 0; index < count; index++) {
    const body = { jobName: 'restart', when: { match: true }, targets: { where: `group=${group(index)}` } }
    assert.equal((await put(`schedules/s${index}`, body)).status, 201)
  }
}

async function runsOf({ app, adminKey }: Opened, key = adminKey): Promise<number> {
  const { payload } = await app.inject({ url: '/job/api/runs?limit=100', headers: { 'x-api-key': key } })
  return JSON.parse(payload).items.length
}

test('a tick without changes runs a few statements, however many schedules with groups there are', async (t) => {
  const opened = await open(t)
  const { put, tick, calls, failures } = opened
  await put('jobs/restart', { document: {} })
  await put('groups/kiosks', { where: 'tag=kiosk' })
  for (let index = 0; index < 5; index++) await put(`groups/g${index}`, { where: 'group=kiosks' })
  await putSchedules(opened, 40, (index) => `g${index % 5}`)
  for (let ticks = 0; ticks < 6; ticks++) await tick()
  assert.ok((await tick()) <= 5, JSON.stringify([...calls]))

  await put('devices/d1', { tags: ['kiosk'] })
  await tick()
  assert.equal(await runsOf(opened), 40)
  await put('groups/kiosks', { where: 'tag=robot' })
  await put('devices/r1', { tags: ['robot'] })
  for (let ticks = 0; ticks < 6; ticks++) {
    await tick()
    assert.ok((calls.get('findGroups') ?? 0) <= 12, 'schedules with the same targets share a selector')
  }
  assert.equal(await runsOf(opened), 80)
  assert.deepEqual(failures, [])
})

test('an owner with many schedules gets a share of each tick, and schedules of others are not delayed', async (t) => {
  const opened = await open(t)
  const { put, tick, calls, app, adminKey } = opened
  await put('jobs/restart', { document: {} })
  for (let index = 0; index < 60; index++) await put(`groups/g${index}`, { where: `tag=t${index}` })
  await putSchedules(opened, 60, (index) => `g${index}`)
  const post = async (path: string, payload: object) => {
    const headers = { 'x-api-key': adminKey }
    const made = await app.inject({ method: 'POST', url: `/job/api/${path}`, headers, payload })
    return JSON.parse(made.payload)
  }
  const { ownerId } = await post('owners', { ownerName: 'other' })
  const scopes = ['READ', 'TRIGGER', 'MANAGE']
  const { apiKey: key } = await post('keys', { keyName: 'other', scopes, ownerId })
  await put('jobs/restart', { document: {} }, key)
  await put('devices/d', { tags: ['x'] }, key)
  const body = { jobName: 'restart', when: { match: true }, targets: { where: 'tag=x' } }
  assert.equal((await put('schedules/s', body, key)).status, 201)
  await tick()
  assert.equal(await runsOf(opened, key), 1)
  assert.ok((calls.get('findGroups') ?? 0) <= 20, JSON.stringify([...calls]))
  for (let ticks = 0; ticks < 6; ticks++) await tick()
  await put('devices/d59', { tags: ['t59'] })
  await put('devices/d0', { tags: ['t0'] })
  await tick()
  assert.equal(await runsOf(opened), 2)
})

test('a schedule that cannot be read is retried with increasing delays, not every second', async (t) => {
  const opened = await open(t)
  const { put, tick, failures, broken, clock } = opened
  await put('jobs/restart', { document: {} })
  await put('groups/g0', { where: 'tag=kiosk' })
  await putSchedules(opened, 1, () => 'g0')
  await put('devices/d1', { tags: ['kiosk'] })
  broken.add('findGroups')
  for (let second = 0; second < 120; second++) {
    await tick()
    clock.ms += 1000
  }
  assert.ok(failures.length >= 5 && failures.length <= 9, `${failures.length} failures`)
  broken.clear()
  clock.ms += 60_000
  await tick()
  assert.equal(await runsOf(opened), 1)
})

test('a schedule whose selector has become too deep for a database is paused and says why, once', async (t) => {
  const opened = await open(t)
  const { put, tick, failures, clock, app, adminKey } = opened
  const nested = (text: string, count: number) =>
    `${'not (site=x or '.repeat(count)}${text}${')'.repeat(count)}`
  await put('jobs/restart', { document: {} })
  await put('groups/inner', { where: 'tag=kiosk' })
  await put('groups/middle', { where: nested('group=inner', 50) })
  const targets = { where: nested('group=middle', 40) }
  const body = { jobName: 'restart', when: { match: true }, targets }
  assert.equal((await put('schedules/deep', body)).status, 201)
  await tick()
  // Alone it can still be used, and so can the group that refers to it.
  const deeper = nested('tag=kiosk', 40)
  assert.equal((await put('groups/inner', { where: deeper })).status, 200)
  for (let second = 0; second < 5; second++) {
    await tick()
    clock.ms += 1000
  }
  const headers = { 'x-api-key': adminKey }
  const { payload } = await app.inject({ url: '/job/api/schedules/deep', headers })
  const { paused, pausedBecause } = JSON.parse(payload)
  assert.equal(paused, true)
  assert.match(pausedBecause, /^J-503: .*nested deeper than 200 levels/)
  assert.deepEqual(failures, [])
})

test('match schedules have a quota; others are not counted, and existing ones can be changed', async (t) => {
  const { put } = await open(t, { ...noQuotas, 'match-schedules': 2 })
  await put('jobs/restart', { document: {} })
  const body = (when: object, more = {}) => ({ jobName: 'restart', when, targets: { where: 'all' }, ...more })
  const match = { match: true }
  for (const name of ['a', 'b']) assert.equal((await put(`schedules/${name}`, body(match))).status, 201)
  const refused = await put('schedules/c', body(match))
  assert.equal(refused.status, 409)
  assert.match(refused.text, /J-912.*match-schedules/)
  assert.equal((await put('schedules/c', body({ cron: '0 3 * * *' }))).status, 201)
  assert.equal((await put('schedules/c', body(match))).status, 409)
  assert.equal((await put('schedules/a', body(match, { description: 'changed' }))).status, 200)
})
