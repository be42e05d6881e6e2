// A fleet whose devices begin to fail in the second wave: the rollout stops automatically after the decisive failure, and
// no device is ever offered an execution of the third wave. Devices are simulated above the transports, because the number of
// connections is limited by the ports of one machine; offers and reports take the same path.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabase, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { startBackground } from '../../src/background/background-tasks.ts'
import type { DeviceNotice, DeviceSession } from '../../src/domain/device/ports/device-link.ts'
import { serveOperation } from '../../src/gateway/serve-operation.ts'
import { type OpenApp, openApp } from '../http/open-app.ts'

const devices = testSize('devices', { test: 1000, chaos: 100_000 })
/** A failsafe: the time itself is printed. */
const boundMs = 90_000
const reportsAtOnce = 200
/** Each is a read of its own: more than PostgreSQL has connections for would wait. */
const askedAtOnce = 20
const rollout = {
  order: 'GIVEN',
  waves: [{ size: '1%' }, { size: '20%' }, { size: '100%' }],
  next: { succeededPercent: 50 },
  stop: [{ on: ['FAILED'], percent: 10, minEnded: 100, of: 'WAVE' }],
}
const [firstWave, secondWave] = [devices / 100, devices / 5]

class SimulatedSession implements DeviceSession {
  readonly transport = 'mqtt'
  readonly wants = { list: true, next: true, cancel: true }
  readonly isReady = true
  readonly lastSeenAt = Date.now()
  readonly device: DeviceSession['device']
  readonly #take: (jobExecutionId: number) => void

  constructor(device: DeviceSession['device'], take: (jobExecutionId: number) => void) {
    this.device = device
    this.#take = take
  }

  send(notice: DeviceNotice, jobExecutionIds: readonly number[]): void {
    if (notice.kind !== 'cancel') for (const jobExecutionId of jobExecutionIds) this.#take(jobExecutionId)
  }

  gather(): void {}

  flush(): void {}

  hold(): void {}

  release(): void {}

  close(): void {}
}

const nameOf = (index: number) => `d${String(index).padStart(6, '0')}`

async function open(t: TestContext, databaseUrl?: string) {
  const opened = await openApp(t, {}, databaseUrl)
  const { parts, app, adminKey } = opened
  const background = startBackground(
    {
      ...parts,
      ownNow: Date.now,
      keepEventsMs: 86_400_000,
      keepAuditMs: 86_400_000,
      keepExecutionsMs: undefined,
    },
    parts.dispatcher,
  )
  t.after(() => background.stop())
  const call = async (method: 'GET' | 'POST' | 'PUT', url: string, payload?: object | string) => {
    const type = typeof payload === 'string' ? 'application/x-ndjson' : 'application/json'
    const headers = { 'x-api-key': adminKey, ...(payload !== undefined && { 'content-type': type }) }
    const reply = await app.inject({ method, url, headers, ...(payload !== undefined && { payload }) })
    assert.ok(reply.statusCode < 300, reply.body)
    return reply.json()
  }
  const lines = Array.from({ length: devices }, (_, index) => `{"deviceId":"${nameOf(index)}"}\n`)
  await call('POST', '/job/api/devices/import', lines.join(''))
  await call('PUT', '/job/api/jobs/update', {})
  return { ...opened, call }
}

/** What was offered to each device, and what its reports amount to. */
class SimulatedFleet {
  /** By the positions of executions in the run. */
  readonly offered = new Set<number>()
  readonly #reports: number[] = []
  readonly #seen = new Set<number>()
  /** Of the second wave. */
  ended = 0
  failed = 0
  decidedAt: number | undefined
  firstExecutionId = Number.POSITIVE_INFINITY

  offer(jobExecutionId: number): void {
    if (this.#seen.has(jobExecutionId)) return
    this.#seen.add(jobExecutionId)
    this.#reports.push(jobExecutionId)
  }

  /** Reports what was offered since, the first wave well, one in five of all others badly. */
  async report({ parts }: OpenApp, ownerNo: number): Promise<void> {
    const batch = this.#reports.splice(0, reportsAtOnce)
    await Promise.all(
      batch.map(async (jobExecutionId) => {
        const position = jobExecutionId - this.firstExecutionId
        this.offered.add(position)
        const isBad = position >= firstWave && position % 5 === 0
        const operation = { name: 'update', jobId: String(jobExecutionId) } as const
        const device = { ownerNo, deviceId: nameOf(position) }
        const status = isBad ? 'FAILED' : 'SUCCEEDED'
        await serveOperation(parts, device, operation, { status }, 'object')
        if (position >= firstWave) this.#count(isBad)
      }),
    )
    // A fleet is other machines: it does not take all of this one. Up to 8000 reports a second.
    await sleep(25)
  }

  get isIdle(): boolean {
    return this.#reports.length === 0
  }

  #count(isBad: boolean): void {
    this.ended++
    if (isBad) this.failed++
    if (this.ended >= 100 && this.failed * 10 >= this.ended) this.decidedAt ??= performance.now()
  }
}

async function stopBeforeThirdWave(t: TestContext, databaseUrl?: string): Promise<void> {
  const opened = await open(t, databaseUrl)
  const { parts, call } = opened
  const fleet = new SimulatedFleet()
  const ownerNo = 1
  const keys = Array.from({ length: devices }, (_, index) => ({ ownerNo, deviceId: nameOf(index) }))
  for (const device of keys) {
    const session = new SimulatedSession({ ...device, tokenId: null }, (id) => fleet.offer(id))
    parts.dispatcher.open(session)
    parts.dispatcher.answered(session, { next: undefined })
  }
  const { runId } = await call('POST', '/job/api/runs', {
    jobName: 'update',
    targets: { where: 'all' },
    rollout,
  })
  const found = await parts.store.getRollout({ ownerNo, runId })
  assert.ok(found)
  const { firstExecutionId } = found.rollout
  fleet.firstExecutionId = firstExecutionId
  const statusNow = async () => (await parts.store.getRollout({ ownerNo, runId }))?.rollout.status
  let pausedAt: number | undefined
  const watching = waitUntil('it is paused', async () => (await statusNow())?.state === 'PAUSED', {
    timeoutMs: longTest.timeout,
    intervalMs: 20,
  }).then(() => {
    pausedAt = performance.now()
  })
  while (pausedAt === undefined || !fleet.isIdle) await fleet.report(opened, ownerNo)
  await watching
  assert.ok(fleet.decidedAt)
  const ms = pausedAt - fleet.decidedAt
  t.diagnostic(`${devices} devices: paused ${Math.round(ms)} ms after the failure that decided it`)
  assert.ok(ms < boundMs, `${ms} ms`)

  await waitUntil('the second wave has ended', async () => {
    await fleet.report(opened, ownerNo)
    return fleet.ended === secondWave
  })
  await parts.dispatcher.sweep()
  await parts.dispatcher.quiet()
  assert.equal(fleet.offered.size, firstWave + secondWave)
  assert.ok([...fleet.offered].every((position) => position < firstWave + secondWave))
  const { rollout: shown } = await call('GET', `/job/api/runs/${runId}`)
  assert.deepEqual([shown.state, shown.wave, shown.released], ['PAUSED', 2, firstWave + secondWave])
  assert.deepEqual([shown.pausedCause.rule, shown.pausedCause.executions.length], ['STOP_RULE', 20])
  assert.deepEqual(
    [shown.waves[1].counts.FAILED, shown.waves[2].counts.PENDING],
    [secondWave / 5, devices - firstWave - secondWave],
  )
  await askForThirdWave(opened, keys, firstExecutionId)
}

/** Requests of devices get no execution of it, not even by a guessed id. */
async function askForThirdWave(
  { parts }: OpenApp,
  keys: { ownerNo: number; deviceId: string }[],
  firstExecutionId: number,
): Promise<void> {
  for (let start = firstWave + secondWave; start < devices; start += askedAtOnce) {
    const asked = keys.slice(start, start + askedAtOnce).map(async (device, index) => {
      const { shown } = await serveOperation(parts, device, { name: 'get' }, {}, 'object')
      assert.deepEqual(shown, [])
      const started = await serveOperation(parts, device, { name: 'start-next' }, {}, 'object')
      assert.equal(JSON.parse(started.json).execution, undefined)
      const jobId = String(firstExecutionId + start + index)
      const guessed = serveOperation(
        parts,
        device,
        { name: 'update', jobId },
        { status: 'SUCCEEDED' },
        'object',
      )
      await assert.rejects(guessed, { code: 'ResourceNotFound' })
    })
    await Promise.all(asked)
  }
}

test('embedded: a failing second wave stops the rollout of a fleet', longTest, (t) => stopBeforeThirdWave(t))

test('PostgreSQL: a failing second wave stops the rollout of a fleet', longTest, async (t) => {
  await stopBeforeThirdWave(t, await createDatabase(await sharedPostgres()))
})
