// What an owner of a history has before anything goes wrong.

import assert from 'node:assert/strict'
import type { Api } from '@jobcast/testkit/call-api'
import type { RecordedWindow } from './history.ts'

export const secretJob = 'secret'
export const largeJob = 'large'
export const largeTag = 'fleet'

/** One of them is open at any instant. That one has closed may come late to a node that stands still. */
export const historyWindows: RecordedWindow[] = [
  { windowName: 'even', cron: '*/2 * * * *', durationMinutes: 1, timeZone: 'UTC', closedLateMs: 30_000 },
  { windowName: 'odd', cron: '1-59/2 * * * *', durationMinutes: 1, timeZone: 'UTC', closedLateMs: 30_000 },
]
export const minutely = 'minutely'
export const each = 'each'

type Seeded = { tokens: Map<string, string>; schedulesAt: number }

/** Jobs with and without retries, devices with tokens, windows and schedules. `fleet`: devices that never connect. */
export async function seedOwner(
  api: Api,
  jobs: string[],
  deviceIds: string[],
  fleet: string[],
): Promise<Seeded> {
  const put = async (path: string, body: object) => {
    const reply = await api.call('PUT', `/job/api/${path}`, { body })
    assert.equal(reply.status, 201, reply.text)
  }
  for (const [index, job] of jobs.entries()) {
    await put(`jobs/${job}`, index % 2 === 0 ? {} : { retry: { max: 1, backoffSeconds: 1, on: ['FAILED'] } })
  }
  const word = { type: 'string', writeOnly: true }
  const parameters = { type: 'object', properties: { word }, required: ['word'] }
  await put(`jobs/${secretJob}`, { document: { word: '${params.word}' }, parameters })
  await put(`jobs/${largeJob}`, { expireAfterSeconds: 2 })
  const tokens = new Map<string, string>()
  for (const deviceId of deviceIds) {
    await put(`devices/${deviceId}`, {})
    const { json } = await api.call('POST', `/job/api/devices/${deviceId}/credential`)
    tokens.set(deviceId, json.deviceToken)
  }
  if (fleet.length > 0) await importFleet(api, fleet)
  for (const { windowName, closedLateMs: _, ...rule } of historyWindows)
    await put(`windows/${windowName}`, rule)
  const [jobName = ''] = jobs
  const targets = { deviceIds: deviceIds.slice(0, 2) }
  await put(`schedules/${minutely}`, { jobName, targets, when: { cron: '* * * * *' }, overlap: 'QUEUE' })
  const where = deviceIds.map((deviceId) => `deviceId=${deviceId}`).join(' or ')
  await put(`schedules/${each}`, { jobName, targets: { where }, when: { match: true } })
  return { tokens, schedulesAt: Date.now() }
}

async function importFleet(api: Api, fleet: string[]): Promise<void> {
  const reply = await api.call('POST', '/job/api/devices/import', {
    rawBody: fleet.map((deviceId) => JSON.stringify({ deviceId, tags: [largeTag] })).join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  })
  assert.equal(reply.json?.failedTotal, 0, reply.text)
}
