// What the sketches share: the checks, the group commit and the answer, on a Fastify app of their own. No events, logs,
// metrics, history, quotas or idempotency keys, and one node only.

import { hash, timingSafeEqual } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { fleet } from '../fleet.ts'
import { tellParent } from '../server-process.ts'

type Device = { deviceNo: number; deviceId: string; deviceName: string }
type Key = {
  secretHash: Uint8Array
  scopes: string[]
  expiresAt: number | null
  revokedAt: number | null
}
/** Of the one owner; `version` says of which state of its tables it is. */
export type Directory = {
  version: number
  keys: Map<string, Key>
  jobs: Map<string, number>
  devices: Map<string, Device>
}
export type Refusal = { status: number; code: string }
export type Created = { runId: number; firstId: number; devices: Device[] }
export type Call = {
  apiKey: unknown
  jobName: string
  deviceIds: string[]
  at: number
  resolve: (outcome: Created | Refusal) => void
  reject: (error: Error) => void
}
/** Of the calls of a group that are not refused. */
export type Rows = {
  runIds: number[]
  jobNos: number[]
  ats: number[]
  firstIds: number[]
  totals: number[]
  deviceNos: number[]
}

const maxGroup = 20_000
let lastRunId = 0
let lastExecutionId = 0

/** What each call of a group comes to, and what has to be written for it. */
export function planGroup(
  directory: Directory,
  group: Call[],
): { outcomes: (Created | Refusal)[]; rows: Rows } {
  const rows: Rows = { runIds: [], jobNos: [], ats: [], firstIds: [], totals: [], deviceNos: [] }
  const outcomes = group.map((call): Created | Refusal => {
    const planned = plan(directory, call)
    if ('code' in planned) return planned
    const { jobNo, devices } = planned
    const created = { runId: ++lastRunId, firstId: lastExecutionId + 1, devices }
    lastExecutionId += devices.length
    rows.runIds.push(created.runId)
    rows.jobNos.push(jobNo)
    rows.ats.push(call.at)
    rows.firstIds.push(created.firstId)
    rows.totals.push(devices.length)
    for (const { deviceNo } of devices) rows.deviceNos.push(deviceNo)
    return created
  })
  return { outcomes, rows }
}

function plan(
  { keys, jobs, devices: known }: Directory,
  { apiKey, jobName, deviceIds, at }: Call,
): { jobNo: number; devices: Device[] } | Refusal {
  const key = typeof apiKey === 'string' ? keys.get(apiKey.slice(3, 13)) : undefined
  const isSame =
    key !== undefined && timingSafeEqual(hash('sha256', apiKey as string, 'buffer'), key.secretHash)
  if (!isSame || key.revokedAt !== null) return { status: 403, code: 'J-802' }
  if (key.expiresAt !== null && key.expiresAt <= at) return { status: 403, code: 'J-803' }
  if (!key.scopes.includes('TRIGGER')) return { status: 403, code: 'J-804' }
  const jobNo = jobs.get(jobName)
  if (jobNo === undefined) return { status: 404, code: 'J-301' }
  const devices: Device[] = []
  for (const deviceId of deviceIds) {
    const device = known.get(deviceId)
    if (device === undefined) return { status: 404, code: 'J-001' }
    devices.push(device)
  }
  return { jobNo, devices }
}

function toAnswer({ firstId, devices }: Created, { jobName, at }: Pick<Call, 'jobName' | 'at'>): string {
  const end = `","execState":"PENDING","launchedAt":"${new Date(at).toISOString().slice(0, 19)}"}`
  let text = '['
  for (const [index, { deviceId, deviceName }] of devices.entries()) {
    text += `${index ? ',' : ''}{"jobExecutionId":${firstId + index},"jobName":"${jobName}","deviceId":"${deviceId}",`
    text += `"deviceName":"${deviceName}${end}`
  }
  return `${text}]`
}

const body = {
  type: 'object',
  required: ['jobName', 'deviceIds'],
  properties: {
    jobName: { type: 'string', minLength: 1 },
    deviceIds: {
      type: 'array',
      minItems: 1,
      maxItems: fleet.length,
      items: { type: 'string', minLength: 1 },
    },
  },
} as const

/** `write` resolves with what each call of a group has come to, once it is on disk. Two groups are under way at most. */
export async function serveSketch(
  apiKey: string,
  write: (group: Call[]) => Promise<(Created | Refusal)[]>,
): Promise<void> {
  const waiting: Call[] = []
  let inFlight = 0

  function sendGroups(): void {
    while (inFlight < 2 && waiting.length > 0) {
      let [size, weight] = [0, 0]
      while (size < waiting.length && (size === 0 || weight < maxGroup))
        weight += waiting[size++]?.deviceIds.length ?? 0
      const group = waiting.splice(0, size)
      inFlight++
      void send(group).finally(() => {
        inFlight--
        sendGroups()
      })
    }
  }

  async function send(group: Call[]): Promise<void> {
    try {
      const outcomes = await write(group)
      for (const [index, { resolve }] of group.entries()) resolve(outcomes[index] as Created | Refusal)
    } catch (error) {
      for (const { reject } of group) reject(error as Error)
    }
  }

  const app = Fastify({ bodyLimit: 4 * 1024 * 1024 })
  app.post<{ Body: { jobName: string; deviceIds: string[] } }>(
    '/job/api/jobs/execute',
    { schema: { body } },
    async ({ headers, body: { jobName, deviceIds } }, reply) => {
      const distinct = deviceIds.length === 1 ? deviceIds : [...new Set(deviceIds)]
      const call = { apiKey: headers['x-api-key'], jobName, deviceIds: distinct, at: Date.now() }
      const outcome = await new Promise<Created | Refusal>((resolve, reject) => {
        waiting.push({ ...call, resolve, reject })
        sendGroups()
      })
      if ('code' in outcome) return reply.code(outcome.status).send(outcome)
      return reply
        .code(201)
        .header('location', `/job/api/runs/${outcome.runId}`)
        .type('application/json; charset=utf-8')
        .send(toAnswer(outcome, call))
    },
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  tellParent((app.server.address() as AddressInfo).port, apiKey)
}
