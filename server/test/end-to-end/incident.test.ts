// An incident: a bad version passes the canaries, fails in the next wave and is stopped; an operator rolls it back. In the end
// every device that got the bad version reports the old one, and no other device ever got it.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { createDatabase, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { startBackground } from '../../src/background/background-tasks.ts'
import { serveOperation } from '../../src/gateway/serve-operation.ts'
import { type OpenApp, openApp } from '../http/open-app.ts'

const devices = testSize('devices', { test: 20, chaos: 1000 })
const [good, bad] = ['1.0.0', '2.0.0']
const canaries = devices / 10
const secondWave = (devices * 3) / 10
const ownerNo = 1
/** Each is a read of its own: more than PostgreSQL has connections for would wait. */
const atOnce = 20

const nameOf = (index: number) => `kiosk-${String(index).padStart(4, '0')}`

/** The effect of the bad version on a device, by its position in the fleet. */
function fateOf(index: number): 'SUCCEEDED' | 'FAILED' | 'HANGS' | 'REJECTED' {
  if (index < canaries) return 'SUCCEEDED'
  return (['SUCCEEDED', 'HANGS', 'FAILED', 'HANGS', 'REJECTED'] as const)[index % 5] ?? 'SUCCEEDED'
}

class Kiosk {
  readonly #parts: OpenApp['parts']
  readonly #index: number
  readonly deviceId: string
  /** All versions that the device got, in order. */
  readonly given: string[] = []
  #hanging: string | undefined

  constructor(parts: OpenApp['parts'], index: number) {
    this.#parts = parts
    this.#index = index
    this.deviceId = nameOf(index)
  }

  async #ask(operation: Parameters<typeof serveOperation>[2], fields: object = {}) {
    const device = { ownerNo, deviceId: this.deviceId }
    return JSON.parse((await serveOperation(this.#parts, device, operation, { ...fields }, 'object')).json)
  }

  report(fw: string): Promise<unknown> {
    return this.#ask({ name: 'attributes' }, { fw })
  }

  /** Takes what is offered to it, if there is something. */
  async work(): Promise<void> {
    if (this.#hanging !== undefined) return
    const { execution } = await this.#ask({ name: 'start-next' })
    if (execution === undefined) return
    const { fw } = execution.jobDocument
    this.given.push(fw)
    const fate = fw === bad ? fateOf(this.#index) : 'SUCCEEDED'
    // Whatever comes of it, the new firmware is on the device, unless it has refused it.
    if (fate !== 'REJECTED') await this.report(fw)
    if (fate === 'HANGS') this.#hanging = execution.jobId
    else await this.#ask({ name: 'update', jobId: execution.jobId }, { status: fate })
  }

  /** It was asked to cancel. */
  async confirmCancel(): Promise<void> {
    const jobId = this.#hanging
    if (jobId === undefined) return
    this.#hanging = undefined
    await this.#ask({ name: 'update', jobId }, { status: 'CANCELED' })
  }
}

async function each(kiosks: Kiosk[], work: (kiosk: Kiosk) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < kiosks.length; start += atOnce)
    await Promise.all(kiosks.slice(start, start + atOnce).map(work))
}

async function open(t: TestContext, databaseUrl?: string) {
  const { parts, app, adminKey } = await openApp(t, {}, databaseUrl)
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
  const kiosks = Array.from({ length: devices }, (_, index) => new Kiosk(parts, index))
  const lines = kiosks.map(({ deviceId }) => `{"deviceId":"${deviceId}"}\n`)
  await call('POST', '/job/api/devices/import', lines.join(''))
  await each(kiosks, (kiosk) => kiosk.report(good))
  return { call, kiosks }
}

async function playIncident(t: TestContext, databaseUrl?: string): Promise<void> {
  const { call, kiosks } = await open(t, databaseUrl)
  const rollout = {
    order: 'GIVEN',
    waves: [{ size: '10%' }, { size: '30%' }, { size: '100%' }],
    next: { succeededPercent: 80 },
  }
  for (const fw of [good, bad]) await call('PUT', '/job/api/jobs/firmware', { document: { fw }, rollout })
  const { runId } = await call('POST', '/job/api/runs', { jobName: 'firmware', targets: { where: 'all' } })
  const path = `/job/api/runs/${runId}`

  // The canaries are fine, the next wave is not.
  await waitUntil('it stops', async () => {
    await each(kiosks, (kiosk) => kiosk.work())
    return (await call('GET', path)).rollout.state === 'PAUSED'
  })
  const { rollout: stopped, counts } = await call('GET', path)
  assert.deepEqual([stopped.wave, stopped.released], [2, canaries + secondWave])
  assert.equal(stopped.pausedCause.rule, 'GATE_CLOSED')
  assert.match(stopped.pausedBecause, /of \d+ devices of wave 2 did not succeed; the gate needs 80 %$/)
  assert.ok(stopped.pausedCause.executions.length > 0)
  assert.ok(counts.IN_PROGRESS > 0, 'some hang')

  const back = await call('POST', `${path}/rollback`, { note: 'boot loops' })
  assert.deepEqual([back.rollbackOf, back.version, back.total], [runId, 1, canaries + secondWave])
  const aborted = await call('GET', path)
  assert.equal(aborted.rollout.state, 'ABORTED')
  assert.equal(aborted.counts.PENDING, 0, 'nothing of it waits any more')
  await waitUntil('it is rolled back', async () => {
    await each(kiosks, (kiosk) => kiosk.confirmCancel())
    await each(kiosks, (kiosk) => kiosk.work())
    return (await call('GET', `/job/api/runs/${back.runId}`)).finished
  })
  assert.equal((await call('GET', `/job/api/runs/${back.runId}`)).counts.SUCCEEDED, back.total)
  assert.ok((await call('GET', path)).finished)

  const had = kiosks.filter(({ given }) => given.includes(bad))
  assert.ok(had.length > canaries)
  for (const { given } of had) assert.deepEqual(given, [bad, good])
  const others = kiosks.filter((kiosk) => !had.includes(kiosk))
  for (const { given } of others) assert.ok(given.every((fw) => fw === good))
  const count = async (where: string) => (await call('POST', '/job/api/devices/count', { where })).total
  assert.deepEqual([await count(`fw=${good}`), await count(`fw=${bad}`)], [devices, 0])
  t.diagnostic(`${devices} devices: ${had.length} had got ${bad}, all of them report ${good}`)
}

test('embedded: a bad version is stopped and rolled back', longTest, (t) => playIncident(t))

chaosTest('PostgreSQL: a bad version is stopped and rolled back', longTest, async (t) => {
  await playIncident(t, await createDatabase(await sharedPostgres()))
})
