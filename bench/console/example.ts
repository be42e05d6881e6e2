// What the screens show: simulated devices, a run of each kind, and one of each resource.

import { type Fleet, registerDevices, startFleet } from '@jobcast/sim'
import type { Reply } from '@jobcast/testkit/call-api'
import type { SpawnedServer } from '@jobcast/testkit/spawn-server'

export type Screen = { name: string; path: string; ready?: string }
export type Example = { screens: Screen[]; fleet: Fleet; run: number; deviceIds: string[] }

export async function fillExample(
  server: SpawnedServer,
  simulated: number,
  registered: number,
): Promise<Example> {
  const call = async (method: string, path: string, body?: object): Promise<Reply> => {
    const reply = await server.call(method, `/job/api/${path}`, body && { body })
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.text}`)
    return reply
  }
  const deviceIds = Array.from({ length: registered }, (_, index) => `kiosk-${index + 1}`)
  await importDevices(server, deviceIds)
  const online = Array.from({ length: simulated }, (_, index) => `sim-${index + 1}`)
  const devices = await registerDevices(
    (...request) => server.call(request[0], request[1], request[2]),
    online,
  )
  const pattern = { workSeconds: { from: 1, to: 20 }, failureRate: 0.1, outputLines: 20 }
  const fleet = startFleet({ mqtt: server.mqtt, devices, pattern, seed: 4, tell: () => undefined })
  await fleet.whenUp()

  await call('PUT', 'jobs/restart', { document: { handler: 'restart' } })
  const parameters = { type: 'object', properties: { version: { type: 'string', default: '2.11' } } }
  await call('PUT', 'jobs/update', { document: { handler: 'update' } })
  await call('PUT', 'jobs/update', {
    document: { handler: 'update', version: '${params.version}' },
    parameters,
  })
  await call('PUT', 'groups/online', { where: 'tag=simulated' })
  await call('PUT', 'windows/nights', { cron: '0 1 * * *', durationMinutes: 240 })
  const when = { cron: '0 3 * * *', timeZone: 'UTC' }
  await call('PUT', 'schedules/nightly', { jobName: 'restart', targets: { group: 'online' }, when })
  await call('PUT', 'webhooks/ops', { url: 'https://example.com/hook', eventTypes: ['run.finished'] })
  await server.call('PUT', '/job/api/files/app/1', {
    rawBody: 'content',
    headers: { 'content-type': 'application/octet-stream' },
  })
  const plain = Number((await server.trigger('restart', online)).headers.get('location')?.split('/').at(-1))
  const rollout = {
    waves: [{ size: '10%' }, { size: '100%' }],
    next: { succeededPercent: 99 },
    stop: [{ on: ['FAILED'], percent: 90, minEnded: 20 }],
  }
  const body = { jobName: 'update', targets: { group: 'online' }, rollout, note: 'Ticket 4711' }
  const { runId } = (await call('POST', 'runs', body)).json
  const [execution] = (await call('GET', `executions?runId=${plain}&limit=1`)).json.items
  const chart = '.time-chart canvas'
  const lists = [
    ...['runs', 'approvals', 'calendar', 'executions', 'devices', 'groups', 'jobs', 'schedules', 'secrets'],
    ...['files', 'windows', 'webhooks', 'bridges', 'enrollments', 'keys', 'audit'],
  ]
  const screens = [
    { name: 'Fleet', path: '/', ready: '.map canvas' },
    { name: 'Fleet as a wall', path: '/?wall=on', ready: '.map canvas' },
    { name: 'Trigger', path: '/trigger', ready: '.trigger-summary' },
    { name: 'Run', path: `/runs/${plain}`, ready: chart },
    { name: 'Run that rolls out', path: `/runs/${runId}`, ready: '.lane' },
    { name: 'Execution', path: `/executions/${execution.jobExecutionId}` },
    { name: 'Statistics', path: '/stats', ready: chart },
    { name: 'Device', path: '/devices/sim-1' },
    { name: 'Job', path: '/jobs/update' },
    { name: 'Versions', path: '/jobs/update/versions' },
    { name: 'Group', path: '/groups/online' },
    { name: 'Schedule', path: '/schedules/nightly' },
    { name: 'File', path: '/files/app' },
    { name: 'Window', path: '/windows/nights' },
    { name: 'Webhook', path: '/webhooks/ops' },
    { name: 'Sessions', path: '/keys/sessions' },
    ...lists.map((name) => ({ name: name.charAt(0).toUpperCase() + name.slice(1), path: `/${name}` })),
  ]
  return { screens, fleet, run: plain, deviceIds }
}

export async function importDevices(server: SpawnedServer, deviceIds: readonly string[]): Promise<void> {
  for (let from = 0; from < deviceIds.length; from += 20_000) {
    const part = deviceIds.slice(from, from + 20_000)
    const reply = await server.call('POST', '/job/api/devices/import', {
      rawBody: part.map((deviceId) => JSON.stringify({ deviceId, tags: ['kiosk'] })).join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    })
    if (reply.json.failedTotal !== 0) throw new Error(reply.text)
  }
}
