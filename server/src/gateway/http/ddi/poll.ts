// The root resource: how long to sleep, and links to pending work. An unchanged response is 304.

import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DeviceKey } from '../../../domain/device/device-key.ts'
import { DeviceError } from '../../../domain/execution/device-error.ts'
import type { DeviceExecution } from '../../../domain/execution/device-report.ts'
import { readPending } from '../../../domain/execution/report-execution.ts'
import { deviceOf } from '../sign-in-device.ts'
import type { DdiDeps, DdiParams } from './ddi-deps.ts'
import { linksField } from './links-field.ts'
import { sleepSeconds } from './poll-times.ts'
import { report } from './report.ts'

export async function poll(deps: DdiDeps, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const device = deviceOf(request)
  const { known, base, pollSeconds } = deps.ddi
  const next = await nextOf(deps, device)
  const installed = await known.installedOn(device, () => lastSucceeded(deps, device))
  const { tenant } = request.params as DdiParams
  const own = `${base()}/${encodeURIComponent(tenant)}/controller/v1/${encodeURIComponent(device.deviceId)}`
  const link = (path: string) => ({ href: `${own}/${path}` })
  // While an execution is held back, poll more often, so that it is offered soon after its wave, window or retry begins.
  const isBusy = next !== undefined || (await deps.store.hasUnfinished(device))
  const isCanceling = next?.execState === 'CANCELING'
  const body = JSON.stringify({
    config: { polling: { sleep: clockTime(sleepSeconds(pollSeconds, isBusy)) } },
    [linksField]: {
      ...(isCanceling && { cancelAction: link(`cancelAction/${next.jobExecutionId}`) }),
      ...(next && !isCanceling && { deploymentBase: link(`deploymentBase/${next.jobExecutionId}`) }),
      ...(known.lacksConfig(device) && { configData: link('configData') }),
      ...(installed !== undefined && { installedBase: link(`installedBase/${installed}`) }),
    },
  })
  if (next && !next.notified) deps.deliveries.notified(next.jobExecutionId)
  // The attempt is part of the tag, because the next attempt has the same links.
  const tag = `"${hash('sha1', `${body} ${next?.attempt ?? ''}`, 'base64url')}"`
  reply.header('etag', tag)
  if (hasIt(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return reply.header('content-type', 'application/json; charset=utf-8').send(body)
}

/** The first execution that has files to install. Pending ones before it without files are rejected. */
async function nextOf(deps: DdiDeps, device: DeviceKey): Promise<DeviceExecution | undefined> {
  const { executions } = await readPending(deps, device)
  for (const execution of executions) {
    if (execution.execState !== 'PENDING') return execution
    const { files = [] } = await deps.documents.content(execution.jobVersion)
    if (files.length > 0) return execution
    await rejectWithoutFiles(deps, device, execution)
  }
  return undefined
}

const withoutFiles = 'The device is updated through hawkBit DDI, and the document of the job names no files.'

async function rejectWithoutFiles(
  deps: DdiDeps,
  device: DeviceKey,
  { jobExecutionId, attempt }: DeviceExecution,
): Promise<void> {
  const rejected = { status: 'REJECTED' as const, statusDetails: { reason: withoutFiles }, attempt }
  try {
    await report(deps, device, String(jobExecutionId), rejected)
  } catch (error) {
    // The execution was modified in the meantime.
    if (!(error instanceof DeviceError)) throw error
  }
}

async function lastSucceeded(
  { store }: DdiDeps,
  { ownerNo, deviceId }: DeviceKey,
): Promise<number | undefined> {
  const filter = { deviceId, execStates: ['SUCCEEDED'] as const }
  const { items } = await store.listExecutions({ ownerNo, filter, slice: { after: undefined, limit: 1 } })
  return items[0]?.jobExecutionId
}

function hasIt(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.split(',').some((each) => ['*', tag, `W/${tag}`].includes(each.trim()))
}

/** HH:mm:ss */
function clockTime(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}
