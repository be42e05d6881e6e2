// Schedules with match that give their job to a device again, and cancel it where the device no longer matches. Time is that of
// the test; memory of the ticker is lost wherever a test says so. To build the app costs more than a test: they share one, and each
// has its own owner.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { createDatabase, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { isChaos } from '@jobcast/testkit/test-size'
import { MatchTicker } from '../../src/dispatch/match-ticker.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { ExecutionEvent } from '../../src/domain/execution/execution.ts'
import { fireDue } from '../../src/domain/schedule/fire-schedule.ts'
import type { StoredSchedule } from '../../src/domain/schedule/ports/schedules.ts'
import { openApp } from '../http/open-app.ts'

type Execution = { jobExecutionId: number; deviceId: string; execState: string; runId: number }

const embedded = await openApp({ after })

/** `forgets`: each tick is of a process that was just started. `nodes`: so many at once. */
async function open({ opened: { app, adminKey, parts } = embedded, forgets = false, nodes = 1 } = {}) {
  let key = adminKey
  const call = async (method: 'PUT' | 'GET' | 'POST' | 'DELETE', path: string, payload?: object) => {
    const headers = { 'x-api-key': key }
    const url = `/job/api/${path}`
    const reply = await app.inject({ method, url, headers, ...(payload && { payload }) })
    assert.ok(reply.statusCode < 300, reply.payload)
    return reply.payload === '' ? undefined : JSON.parse(reply.payload)
  }
  const { ownerId } = await call('POST', 'owners', { ownerName: randomUUID() })
  const scopes = ['TRIGGER', 'READ', 'MANAGE']
  key = (await call('POST', 'keys', { keyName: 'all', scopes, ownerId })).apiKey
  const owner = await parts.store.findOwner({ ownerId })
  assert.ok(owner)
  const ownerNo: number = owner.ownerNo
  const failures: unknown[] = []
  const broken = new Set<string>()
  const steps = new Map<string, number>()
  /** Devices whose end was noted. */
  const noted: number[] = []
  /** Each once, before the next step of this name. */
  const hooks = new Map<string, () => Promise<unknown>>()
  let isLost = false
  let listed: StoredSchedule[] | undefined
  const store = new Proxy(parts.store, {
    get(target, name: keyof Store & string) {
      const step = target[name] as unknown
      if (typeof step !== 'function') return step
      return async (...given: unknown[]) => {
        steps.set(name, (steps.get(name) ?? 0) + 1)
        const hook = hooks.get(name)
        hooks.delete(name)
        await hook?.()
        if (broken.has(name)) throw new Error(`${name} is broken`)
        if (name === 'recordEnded') noted.push(...(given as Parameters<Store['recordEnded']>)[0].deviceNos)
        if (name === 'listMatchSchedules' && listed) return listed
        const out = await step.apply(target, given)
        return name === 'listDeviceChanges' && isLost ? { ...out, changes: [], moves: [], isLost } : out
      }
    },
  })
  let ms = 0
  const moment = () => {
    const now = parts.moment()
    return { ...now, clock: (now.clock + ms) as typeof now.clock }
  }
  const deps = { ...parts, store, moment, onDone: () => undefined }
  const newTicker = () => {
    const ticker = new MatchTicker({ ...deps, onFailure: (error) => failures.push(error) }, parts.link)
    ticker.isOurs = (each) => each === ownerNo
    return ticker
  }
  const tickers = Array.from({ length: nodes }, newTicker)
  await call('PUT', 'jobs/update', { document: {} })
  const opened = {
    call,
    failures,
    broken,
    steps,
    hooks,
    noted,
    restart: () => tickers.splice(0, tickers.length, ...Array.from({ length: nodes }, newTicker)),
    /** Two ticks: what a run has brought about is seen by the next one. */
    async tick(seconds = 0) {
      ms += seconds * 1000
      for (let ticks = 0; ticks < 2; ticks++) {
        if (forgets) opened.restart()
        await Promise.all(tickers.map((ticker) => ticker.tick()))
      }
    },
    /** A tick that has read the schedules before `work` is done. */
    async overtake(work: () => Promise<void>) {
      const before = await parts.store.listMatchSchedules()
      await work()
      listed = before
      await opened.tick().finally(() => {
        listed = undefined
      })
    },
    tickElsewhere: () => newTicker().tick(),
    async lose(work: () => Promise<void>) {
      isLost = true
      await work().finally(() => {
        isLost = false
      })
    },
    put: (name: string, attributes: object) => call('PUT', `devices/${name}`, { attributes }),
    schedule: (when: object, more: object = {}) =>
      call('PUT', 'schedules/fix', {
        jobName: 'update',
        targets: { where: 'fw<2.4' },
        when: { match: true, ...when },
        ...more,
      }),
    /** `isElsewhere`: by another node, to which the one that began it is gone. */
    async finishOccurrence({ isElsewhere = false } = {}) {
      const link = parts.link
      const due = await parts.store.listDueSchedules({ by: Number.MAX_SAFE_INTEGER, limit: 100 })
      const found = due.find((each) => each.ownerNo === ownerNo)
      assert.ok(found?.occurrence)
      const later = { ...moment(), clock: (moment().clock + 10_000) as ReturnType<typeof moment>['clock'] }
      const elsewhere = { firedBy: randomUUID(), occurrencesInFlight: new Set<never>(), moment: () => later }
      await fireDue({ ...deps, link, ...(isElsewhere && elsewhere) }, found)
    },
    /** `device versions`, of each execution in the order of their ids. */
    async given(): Promise<string[]> {
      const { items: runs } = await call('GET', 'runs?limit=100')
      const versions = new Map(
        runs.map((run: { runId: number; version: number }) => [run.runId, run.version]),
      )
      return (await opened.executions()).map(
        ({ deviceId, runId, execState }) => `${deviceId} v${versions.get(runId)} ${execState}`,
      )
    },
    async executions(): Promise<Execution[]> {
      const { items } = await call('GET', 'executions?limit=100')
      return items.toSorted((one: Execution, other: Execution) => one.jobExecutionId - other.jobExecutionId)
    },
    /** The newest execution of the device. */
    async move(deviceId: string, ...events: ExecutionEvent[]): Promise<void> {
      const mine = (await opened.executions()).filter((each) => each.deviceId === deviceId)
      const jobExecutionId = mine.at(-1)?.jobExecutionId ?? 0
      for (const event of events) {
        const move = { ownerNo, jobExecutionId, event, moment: parts.moment(), actor: 'device' }
        assert.equal((await parts.store.moveExecution(move)).kind, 'moved')
      }
    },
  }
  return opened
}

type Opened = Awaited<ReturnType<typeof open>>

/** A device gets it after 60, 120 and 240 s, then no longer matches, and starts over. */
async function playBackOff({ put, schedule, tick, move, given, failures }: Opened): Promise<void> {
  await put('d', { fw: '2.3' })
  await put('other', { fw: '3' })
  const { when } = await schedule({ again: 'WHILE_MATCHING' })
  assert.deepEqual(when, { match: true, again: 'WHILE_MATCHING', backOffSeconds: 60 })
  const counts: number[] = []
  const count = async (seconds: number) => {
    await tick(seconds)
    counts.push((await given()).length)
  }
  await count(0)
  await count(100_000)
  for (const seconds of [60, 120, 240]) {
    await move('d', 'start', counts.length > 3 ? 'fail' : 'succeed')
    await count(0)
    await count(seconds - 20)
    await count(20)
  }
  assert.deepEqual(counts, [1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4])
  await move('d', 'start', 'succeed')
  await tick()
  await put('d', { fw: '2.4' })
  await tick()
  await tick(100)
  assert.equal((await given()).length, 4)
  await put('d', { fw: '2.2' })
  await tick()
  assert.equal((await given()).length, 5, 'it starts to match again')
  await move('d', 'start', 'succeed')
  await tick()
  await tick(61)
  assert.equal((await given()).length, 6, 'its back-off has started over')
  assert.deepEqual(failures, [])
}

test('WHILE_MATCHING: a device that still matches gets it again, ever later', async () => {
  await playBackOff(await open())
})

test('WHILE_MATCHING: the same if each tick is of a new process', async () => {
  await playBackOff(await open({ forgets: true }))
})

if (isChaos) {
  test('WHILE_MATCHING: the same on PostgreSQL, with two nodes at once', async (t) => {
    const opened = await openApp(t, {}, await createDatabase(await sharedPostgres()))
    await playBackOff(await open({ opened, nodes: 2 }))
  })
}

test('a crash before the devices are recorded loses nothing and gives nothing twice', async () => {
  const { put, schedule, tick, move, given, broken, restart, finishOccurrence } = await open()
  await put('d', { fw: '2.3' })
  await schedule({ again: 'WHILE_MATCHING' })
  broken.add('recordGiven')
  await tick()
  await move('d', 'start', 'succeed')
  broken.clear()
  restart()
  await tick()
  await finishOccurrence()
  await tick()
  assert.equal((await given()).length, 1)
  await tick(61)
  assert.equal((await given()).length, 2)
})

test('an end that is read before another node has recorded the devices is not lost', async () => {
  const { put, schedule, tick, tickElsewhere, overtake, move, given, broken, finishOccurrence } = await open()
  await schedule({ again: 'WHILE_MATCHING' })
  await tick()
  await overtake(async () => {
    await put('d', { fw: '2.3' })
    broken.add('recordGiven')
    await tickElsewhere()
    await move('d', 'start', 'succeed')
  })
  broken.clear()
  await finishOccurrence()
  await tick()
  assert.equal((await given()).length, 1)
  await tick(61)
  assert.equal((await given()).length, 2)
})

test('ends whose events are purged are found by a sweep, also for a schedule that gave its job once before', async () => {
  const { put, schedule, tick, move, given, restart, lose } = await open()
  await put('d', { fw: '2.3' })
  await schedule({})
  await tick()
  await move('d', 'start', 'succeed')
  await tick(1000)
  await schedule({ again: 'WHILE_MATCHING' })
  await tick()
  assert.equal((await given()).length, 1)
  await tick(61)
  assert.equal((await given()).length, 2)
  await move('d', 'start', 'succeed')
  restart()
  await lose(() => tick())
  await tick(121)
  assert.equal((await given()).length, 3)
})

test('ON_NEW_VERSION: once for each device and version, after the execution before has ended', async () => {
  for (const forgets of [false, true]) {
    const { call, put, schedule, tick, move, given } = await open({ forgets })
    await put('a', { fw: '2.3' })
    await put('b', { fw: '2.3' })
    await schedule({ again: 'ON_NEW_VERSION' })
    await tick()
    await move('a', 'start', 'succeed')
    await tick(100_000)
    const first = ['a v1 SUCCEEDED', 'b v1 PENDING']
    assert.deepEqual(await given(), first)
    await call('PUT', 'jobs/update', { document: { to: 2 } })
    await tick(6)
    assert.deepEqual(await given(), [...first, 'a v2 PENDING'])
    await move('b', 'start', 'fail')
    await tick()
    await move('a', 'start', 'succeed')
    await move('b', 'start', 'succeed')
    await tick(100_000)
    const second = ['a v1 SUCCEEDED', 'b v1 FAILED', 'a v2 SUCCEEDED', 'b v2 SUCCEEDED']
    assert.deepEqual(await given(), second)
    // A version that is put while the schedule is paused.
    await call('POST', 'schedules/fix/pause')
    await call('PUT', 'jobs/update', { document: { to: 3 } })
    await tick(6)
    await call('POST', 'schedules/fix/resume')
    await tick(6)
    assert.deepEqual((await given()).slice(4).sort(), ['a v3 PENDING', 'b v3 PENDING'])
  }
})

test('ON_NEW_VERSION after WHILE_MATCHING: the previous version is not given again', async () => {
  const { call, put, schedule, tick, move, given } = await open()
  for (const name of ['a', 'b']) await put(name, { fw: '2.3' })
  await schedule({ again: 'WHILE_MATCHING', onLeave: 'CANCEL' })
  await tick()
  await move('a', 'start', 'succeed')
  await put('b', { fw: '2.5' })
  await tick()
  await schedule({ again: 'ON_NEW_VERSION' })
  await put('b', { fw: '2.3' })
  await tick()
  await tick(61)
  // What was canceled has not been had.
  assert.deepEqual((await given()).sort(), ['a v1 SUCCEEDED', 'b v1 CANCELED', 'b v1 PENDING'])
  await call('PUT', 'jobs/update', { document: { to: 2 } })
  await tick(6)
  assert.ok((await given()).includes('a v2 PENDING'))
})

test('ON_NEW_VERSION: each device gets another job that the schedule is changed to, whatever its version', async () => {
  const { call, put, schedule, tick, move, given } = await open()
  await call('PUT', 'jobs/update', { document: { to: 2 } })
  for (const jobName of ['same', 'lower']) await call('PUT', `jobs/${jobName}`, { document: {} })
  await call('PUT', 'jobs/same', { document: { to: 2 } })
  await put('a', { fw: '2.3' })
  await schedule({ again: 'ON_NEW_VERSION' })
  await tick()
  const expected = ['a v2 SUCCEEDED']
  for (const [jobName, version] of [
    ['same', 2],
    ['lower', 1],
  ]) {
    await move('a', 'start', 'succeed')
    await tick()
    await schedule({ again: 'ON_NEW_VERSION' }, { jobName })
    await tick(6)
    await tick(100_000)
    assert.deepEqual(await given(), [...expected, `a v${version} PENDING`])
    expected.push(`a v${version} SUCCEEDED`)
  }
})

test('ON_NEW_VERSION: a new version notes no end that was noted before', async () => {
  const { call, put, schedule, tick, move, given, noted } = await open()
  for (const name of ['a', 'b']) await put(name, { fw: '2.3' })
  await schedule({ again: 'ON_NEW_VERSION' })
  await tick()
  for (const name of ['a', 'b']) await move(name, 'start', 'succeed')
  await tick()
  assert.equal(noted.length, 2)
  await call('PUT', 'jobs/update', { document: { to: 2 } })
  await tick(6)
  assert.equal((await given()).length, 4)
  assert.equal(noted.length, 2)
})

test('ON_NEW_VERSION with REPLACE: waiting executions of the previous version are canceled', async () => {
  const { call, put, schedule, tick, move, given } = await open()
  await put('a', { fw: '2.3' })
  await put('b', { fw: '2.3' })
  await schedule({ again: 'ON_NEW_VERSION' }, { overlap: 'REPLACE' })
  await tick()
  await move('a', 'start')
  await call('PUT', 'jobs/update', { document: { to: 2 } })
  await tick(6)
  const all = ['a v1 IN_PROGRESS', 'b v1 CANCELED', 'a v2 PENDING', 'b v2 PENDING']
  assert.deepEqual(await given(), all)
  await move('b', 'start', 'succeed')
  await tick(100_000)
  assert.equal((await given()).length, 4)
})

test('ON_NEW_VERSION with REPLACE: two nodes that create one run do not cancel its executions', async () => {
  const { call, put, schedule, tick, given, hooks, finishOccurrence } = await open()
  await put('d', { fw: '2.3' })
  await schedule({ again: 'ON_NEW_VERSION' }, { overlap: 'REPLACE' })
  await tick()
  await call('PUT', 'jobs/update', { document: { to: 2 } })
  const [isMade, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  hooks.set('recordGiven', () => {
    isMade.resolve()
    return goesOn.promise
  })
  const first = tick(6)
  await isMade.promise
  // The other one has chosen its devices, and now the first one comes to its end.
  hooks.set('listSelectable', () => {
    goesOn.resolve()
    return first
  })
  await finishOccurrence({ isElsewhere: true })
  await tick(100_000)
  assert.deepEqual(await given(), ['d v1 CANCELED', 'd v2 PENDING'])
})

test('a process does not treat its own occurrence in progress as abandoned', async () => {
  const { call, put, schedule, tick, given, hooks, steps, finishOccurrence } = await open()
  await put('d', { fw: '2.3' })
  await schedule({})
  const [isMade, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  hooks.set('recordGiven', () => {
    isMade.resolve()
    return goesOn.promise
  })
  const first = tick()
  await isMade.promise
  steps.clear()
  await finishOccurrence()
  assert.deepEqual([...steps.keys()], [])
  goesOn.resolve()
  await first
  assert.deepEqual(await given(), ['d v1 PENDING'])
  assert.equal((await call('GET', 'schedules/fix')).lastRunId, (await call('GET', 'runs')).items[0].runId)
})

test('onLeave: waiting executions of a device that no longer matches are canceled, and the device may get the job again', async () => {
  for (const again of [undefined, 'ON_NEW_VERSION', 'WHILE_MATCHING']) {
    const { call, put, schedule, tick, move, given, executions } = await open()
    await put('waits', { fw: '2.3' })
    await put('works', { fw: '2.3' })
    await schedule({ onLeave: 'CANCEL', ...(again && { again }) })
    await tick()
    await move('works', 'start')
    for (const name of ['waits', 'works']) await put(name, { fw: '2.5' })
    await tick()
    assert.deepEqual((await given()).sort(), ['waits v1 CANCELED', 'works v1 IN_PROGRESS'])
    const canceled = (await executions()).find(({ execState }) => execState === 'CANCELED')
    const history = await call('GET', `executions/${canceled?.jobExecutionId}/history`)
    const last = history.items.at(-1)
    assert.deepEqual([last.event, last.actor], ['no-longer-matching', 'clock'])
    // It waits again, for its retry, and its device has not come back.
    await move('works', 'not-now')
    await tick()
    assert.ok((await given()).includes('works v1 CANCELED'))
    await put('waits', { fw: '2.3' })
    await tick()
    assert.equal((await given()).length, 2, 'not before its back-off is over')
    await tick(61)
    assert.deepEqual((await given()).slice(2), ['waits v1 PENDING'])
  }
})

test('onLeave: a changed selector cancels waiting executions of devices that it excludes', async () => {
  const { call, put, schedule, tick, given } = await open()
  await call('PUT', 'groups/old', { where: 'fw<2.4' })
  await put('a', { fw: '2.3' })
  await put('b', { fw: '2.1' })
  await schedule({ onLeave: 'CANCEL' }, { targets: { group: 'old' } })
  await tick()
  await call('PUT', 'groups/old', { where: 'fw<2.2' })
  await tick()
  assert.deepEqual((await given()).sort(), ['a v1 CANCELED', 'b v1 PENDING'])
})

test('a tick without changes costs one more statement, however many devices got the job', async () => {
  const { call, put, move, tick, steps } = await open()
  for (let index = 0; index < 20; index++) await put(`d${index}`, { fw: '2.3' })
  for (let index = 0; index < 10; index++) {
    const targets = { where: `fw<2.${4 + index}` }
    const when = { match: true, again: 'WHILE_MATCHING', onLeave: 'CANCEL' }
    await call('PUT', `schedules/s${index}`, { jobName: 'update', targets, when })
  }
  for (let ticks = 0; ticks < 4; ticks++) await tick()
  steps.clear()
  await tick()
  assert.ok([...steps.values()].reduce((sum, count) => sum + count, 0) <= 10, JSON.stringify([...steps]))
  // Nor does one that no longer matches when it would get it again.
  await move('d0', 'start', 'succeed')
  await tick()
  await put('d0', { fw: '99' })
  await tick()
  await tick(61)
  assert.ok(steps.has('listDueAgain'))
  steps.clear()
  await tick()
  assert.ok(!steps.has('listDueAgain'), JSON.stringify([...steps]))
})
