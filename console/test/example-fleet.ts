// A fleet as an operator of kiosks has it, for pictures: sites, versions, a day of history, a rollout in its second wave with
// failures that have something in common, a run that awaits approval, schedules, windows and groups.

import type { TestContext } from 'node:test'
import { type Fleet, startFleet } from '@jobcast/sim'
import type { OpenServer } from '@jobcast/testkit/open-server'

type ExampleClock = {
  /** How far the clock of the server is behind. */
  agoMs: number
}

export type ExampleRuns = { nightly: number; rollout: number; restart: number; failed: number }

const hourMs = 3_600_000

const sites = [
  { site: 'berlin', timeZone: 'Europe/Berlin' },
  { site: 'lima', timeZone: 'America/Lima' },
  { site: 'oslo', timeZone: 'Europe/Oslo' },
  { site: 'osaka', timeZone: 'Asia/Tokyo' },
  { site: 'austin', timeZone: 'America/Chicago' },
  { site: 'turin', timeZone: 'Europe/Rome' },
] as const

const versions = ['2.10.4', '2.10.4', '2.10.4', '2.9.3', '2.10.4', '2.10.1', '2.10.4'] as const

type Example = { deviceId: string; site: string; timeZone: string; fw: string }
type Credential = { deviceId: string; deviceToken: string }

function listDevices(size: number): Example[] {
  return Array.from({ length: size }, (_, index) => {
    const { site, timeZone } = sites[Math.floor((index * sites.length) / size)] ?? sites[0]
    const fw = versions[(index * 5 + (index >> 3)) % versions.length] ?? versions[0]
    return { deviceId: `kiosk-${String(index + 1).padStart(5, '0')}`, site, timeZone, fw }
  })
}

/** `clock` must be the one of the server. */
export async function fillExampleFleet(
  t: TestContext,
  server: OpenServer,
  clock: ExampleClock,
  size: number,
): Promise<ExampleRuns> {
  const devices = listDevices(size)
  clock.agoMs = 24 * hourMs
  await setUp(server, devices)
  const credentials = await createTokens(server, devices)
  const online = credentials.filter((_, index) => scattered(index) % 16 !== 0)
  const old = new Set(
    devices.filter(({ site, fw }) => site === 'lima' && fw === '2.9.3').map((d) => d.deviceId),
  )

  await addHistory(server, clock, online.slice(0, Math.min(300, size)))

  clock.agoMs = 0
  const quick = await connect(t, server, online, {
    workSeconds: { from: 0, to: 3 },
    failureRate: 0.008,
    rejectRate: 0.002,
  })
  const nightly = await run(server, 'sync-prices', { where: 'all' }, { note: 'Prices of this week' })
  await ended(server, nightly, size - online.length)
  await quick.stop()

  await connect(
    t,
    server,
    online,
    { workSeconds: { from: 10, to: 100 }, failureRate: 0.004, outputLines: 12 },
    old,
  )
  const rollout = await run(
    server,
    'update-firmware',
    { where: 'not site=osaka' },
    {
      note: 'Firmware 2.11.0: faster start',
      rollout: {
        waves: [{ size: '1%' }, { size: '10%' }, { size: '50%' }, { size: '100%' }],
        ratePerMinute: Math.max(60, Math.ceil(size / 25)),
        next: { succeededPercent: 85 },
        stop: [{ on: ['FAILED', 'REJECTED'], percent: 12, minEnded: 20 }],
      },
    },
  )
  const restart = await run(server, 'restart', { where: 'site=osaka' }, {})
  const { apiKey } = await server.newKey(['TRIGGER', 'READ'], { keyName: 'ci' })
  await server.call('POST', '/job/api/runs', {
    key: apiKey,
    body: { jobName: 'collect-logs', targets: { where: 'site=turin' }, approval: true, note: 'Ticket 4711' },
  })
  await secondWaveFails(server, rollout, Math.min(10, size / 1000))
  const { json } = await server.call('GET', `/job/api/executions?runId=${nightly}&execState=FAILED`)
  return { nightly, rollout, restart, failed: json.items[0]?.jobExecutionId ?? 1 }
}

async function setUp(server: OpenServer, devices: Example[]): Promise<void> {
  const put = (path: string, body: object) => wanted(server, 'PUT', path, body)
  await put('jobs/restart', {
    description: 'Restarts the kiosk application',
    document: { handler: 'restart' },
  })
  await put('jobs/collect-logs', {
    description: 'Packs the logs of the last day',
    document: { handler: 'logs' },
  })
  await put('jobs/sync-prices', { description: 'Fetches prices and menus', document: { handler: 'sync' } })
  const parameters = {
    type: 'object',
    properties: {
      version: { type: 'string', default: '2.11.0' },
      channel: { type: 'string', enum: ['stable', 'beta'], default: 'stable' },
    },
  }
  const firmware = {
    description: 'Installs firmware and restarts',
    timeoutSeconds: 900,
  }
  await put('jobs/update-firmware', { ...firmware, document: { handler: 'firmware' } })
  await put('jobs/update-firmware', {
    ...firmware,
    document: { handler: 'firmware', version: '${params.version}', channel: '${params.channel}' },
    parameters,
  })
  await put('windows/nights', { cron: '0 1 * * *', durationMinutes: 240 })
  const lines = devices.map(({ deviceId, site, timeZone, fw }) =>
    JSON.stringify({
      deviceId,
      deviceName: `Kiosk ${Number(deviceId.slice(-5))}, ${site}`,
      tags: ['kiosk', site],
      timeZone,
      attributes: { site, fw },
    }),
  )
  for (let from = 0; from < lines.length; from += 2000) {
    const reply = await server.call('POST', '/job/api/devices/import', {
      rawBody: lines.slice(from, from + 2000).join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    })
    if (reply.json.failedTotal !== 0) throw new Error(reply.text)
  }
  await put('groups/old-firmware', { where: 'fw < 2.10' })
  await put('groups/europe', { where: 'site in (berlin, oslo, turin)' })
  await put('schedules/nightly-prices', {
    jobName: 'sync-prices',
    targets: { where: 'tag=kiosk' },
    when: { cron: '0 3 * * *', timeZone: 'Europe/Berlin' },
    window: 'nights',
  })
  await wanted(server, 'POST', 'enrollments', {
    name: 'Kiosks, Berlin',
    maxUses: 200,
    tags: ['kiosk', 'berlin'],
  })
}

async function createTokens(server: OpenServer, devices: Example[]): Promise<Credential[]> {
  const credentials: Credential[] = []
  for (let from = 0; from < devices.length; from += 100) {
    const part = devices
      .slice(from, from + 100)
      .map(({ deviceId }) => wanted(server, 'POST', `devices/${deviceId}/credential`))
    credentials.push(...((await Promise.all(part)) as Credential[]))
  }
  return credentials
}

/** A run an hour on a part of the devices, so that the charts of the last day have something to show. */
async function addHistory(server: OpenServer, clock: ExampleClock, devices: Credential[]): Promise<void> {
  for (let hours = 23; hours >= 1; hours -= 2) {
    clock.agoMs = hours * hourMs
    const share = devices.slice(0, Math.ceil((devices.length * (3 + (hours % 7))) / 10))
    const fleet = startFleet({
      mqtt: server.server.mqtt,
      devices: share,
      pattern: { workSeconds: { from: 0, to: 0.3 }, failureRate: hours % 5 === 0 ? 0.08 : 0.01 },
    })
    await fleet.whenUp()
    const runId = await run(server, hours % 3 ? 'collect-logs' : 'restart', {
      deviceIds: share.map(({ deviceId }) => deviceId),
    })
    await ended(server, runId, 0)
    await fleet.stop()
  }
}

/** Devices of `old` fail often. */
async function connect(
  t: TestContext,
  server: OpenServer,
  devices: Credential[],
  pattern: object,
  old = new Set<string>(),
): Promise<Fleet> {
  const fleet = startFleet({
    mqtt: server.server.mqtt,
    devices: devices.map((device) =>
      old.has(device.deviceId) ? { ...device, pattern: { failureRate: 0.7 } } : device,
    ),
    pattern,
    seed: 4,
  })
  t.after(() => fleet.stop())
  await fleet.whenUp()
  return fleet
}

async function run(server: OpenServer, jobName: string, targets: object, more: object = {}): Promise<number> {
  const { runId } = (await wanted(server, 'POST', 'runs', { jobName, targets, ...more })) as { runId: number }
  return runId
}

async function ended(server: OpenServer, runId: number, openAtMost: number): Promise<void> {
  for (;;) {
    const { json } = await server.call('GET', `/job/api/runs/${runId}?wait=2`)
    if (json.counts.PENDING + json.counts.IN_PROGRESS <= openAtMost) return
    await pause(200)
  }
}

async function secondWaveFails(server: OpenServer, runId: number, failures: number): Promise<void> {
  for (;;) {
    const { counts, rollout } = (await server.call('GET', `/job/api/runs/${runId}`)).json
    if (rollout.wave > 2 || (rollout.wave === 2 && counts.FAILED >= failures)) return
    await pause(500)
  }
}

/** Without a pattern that one could see on the map. */
function scattered(index: number): number {
  const mixed = Math.imul(index + 1, 0x9e3779b1)
  return Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) >>> 13
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function wanted(server: OpenServer, method: string, path: string, body?: object): Promise<unknown> {
  const reply = await server.call(method, `/job/api/${path}`, body && { body })
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.text}`)
  return reply.json
}
