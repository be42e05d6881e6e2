// Shared by the sketches: the checks, the group commit and the response, on a Fastify app of their own. No events, logs,
// metrics, history or quotas, and one node only. An Idempotency-Key is stored with its run and compared in the same transaction.

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
/** The cached tables of the only owner; `version` identifies their state. */
export type Directory = {
  version: number
  keys: Map<string, Key>
  jobs: Map<string, number>
  devices: Map<string, Device>
}
export type Refusal = { status: number; code: string }
export type Created = { runId: number; firstId: number; at: number; devices: Device[] }
/** The call that has used a key before; `run`: which one of the rows asks. */
export type Earlier = { run: number; isSame: boolean; runId: number; firstId: number; at: number }
export type Call = {
  apiKey: unknown
  jobName: string
  deviceIds: string[]
  at: number
  idempotency: { key: string; requestHash: Uint8Array } | undefined
  resolve: (outcome: Created | Refusal) => void
  reject: (error: Error) => void
}
/** Rows to write for the accepted calls of a group. `hashes`: of the requests with a key. */
export type Rows = {
  runIds: number[]
  jobNos: number[]
  ats: number[]
  firstIds: number[]
  totals: number[]
  deviceNos: number[]
  keys: (string | null)[]
  hashes: (Uint8Array | null)[]
}

/** Keys from before have expired. */
export const keyMs = 24 * 60 * 60 * 1000
const maxGroup = 20_000
let lastRunId = 0
let lastExecutionId = 0

/** Decides the outcome of each call of a group, and the rows to write. */
export function planGroup(
  directory: Directory,
  group: Call[],
): { outcomes: (Created | Refusal)[]; rows: Rows } {
  const rows: Rows = {
    ...{ runIds: [], jobNos: [], ats: [], firstIds: [], totals: [], deviceNos: [] },
    ...{ keys: [], hashes: [] },
  }
  const outcomes = group.map((call): Created | Refusal => {
    const planned = plan(directory, call)
    if ('code' in planned) return planned
    const { jobNo, devices } = planned
    const created = { runId: ++lastRunId, firstId: lastExecutionId + 1, at: call.at, devices }
    lastExecutionId += devices.length
    rows.runIds.push(created.runId)
    rows.jobNos.push(jobNo)
    rows.ats.push(call.at)
    rows.firstIds.push(created.firstId)
    rows.totals.push(devices.length)
    for (const { deviceNo } of devices) rows.deviceNos.push(deviceNo)
    rows.keys.push(call.idempotency?.key ?? null)
    rows.hashes.push(call.idempotency?.requestHash ?? null)
    return created
  })
  return { outcomes, rows }
}

/** What calls are answered with whose key was used before. */
export function replayEarlier(outcomes: (Created | Refusal)[], earlier: Earlier[]): (Created | Refusal)[] {
  if (earlier.length === 0) return outcomes
  const byRun = new Map(earlier.map(({ run, ...each }) => [run, each]))
  let run = 0
  return outcomes.map((outcome) => {
    if ('code' in outcome) return outcome
    const found = byRun.get(run++)
    if (found === undefined) return outcome
    const { isSame, ...first } = found
    return isSame ? { ...outcome, ...first } : { status: 409, code: 'J-501' }
  })
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

function toAnswer({ firstId, at, devices }: Created, jobName: string): string {
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

/** `write` resolves with the outcome of each call of a group, once it is on disk. At most two groups are in flight. */
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
      const key = headers['idempotency-key']
      const idempotency =
        typeof key === 'string'
          ? { key, requestHash: hash('sha256', JSON.stringify([jobName, deviceIds]), 'buffer') }
          : undefined
      const call = { apiKey: headers['x-api-key'], jobName, deviceIds: distinct, at: Date.now(), idempotency }
      const outcome = await new Promise<Created | Refusal>((resolve, reject) => {
        waiting.push({ ...call, resolve, reject })
        sendGroups()
      })
      if ('code' in outcome) return reply.code(outcome.status).send(outcome)
      return reply
        .code(201)
        .header('location', `/job/api/runs/${outcome.runId}`)
        .type('application/json; charset=utf-8')
        .send(toAnswer(outcome, jobName))
    },
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  tellParent((app.server.address() as AddressInfo).port, apiKey)
}
