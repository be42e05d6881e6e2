// Template databases with the job, the fleet, and a number of executions, all created through the API. Each measurement gets
// its own copy, so that none depends on what another has stored.

import { closeSync, cpSync, fsyncSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { runCaller } from './caller.ts'
import { fleet, jobName } from './fleet.ts'
import { type Jobcast, startJobcast } from './jobcast.ts'
import { temporaryFolder } from './processes.ts'
import { buildRequests, inTurn } from './requests.ts'

export type Stored = { executions: number; folder: string }

const preloadCallers = 4

export async function buildStored(executions: number): Promise<Stored> {
  const folder = temporaryFolder()
  const jobcast = await startJobcast(folder)
  await putFleet(jobcast)
  const calls = Math.ceil(executions / fleet.length)
  await triggerWholeFleet(jobcast, calls)
  await jobcast.end('SIGTERM')
  return { executions: calls * fleet.length, folder }
}

/** The copy is on disk before this returns, so that its write is not measured. */
export function copyStored({ folder }: Stored): string {
  const copy = temporaryFolder()
  for (const name of readdirSync(folder)) {
    if (name === 'log') continue
    cpSync(join(folder, name), join(copy, name))
    const file = openSync(join(copy, name), 'r')
    fsyncSync(file)
    closeSync(file)
  }
  return copy
}

async function triggerWholeFleet({ port, apiKey }: Jobcast, calls: number): Promise<void> {
  const requests = buildRequests({ kind: 'trigger', devices: fleet.length }, apiKey)
  const callers = Math.min(calls, preloadCallers)
  let sent = callers
  const onAnswer = () => sent++ < calls
  await Promise.all(
    Array.from({ length: callers }, (_, first) =>
      runCaller({ port, next: inTurn(requests, first), onAnswer }),
    ),
  )
}

export async function putFleet({ port, apiKey }: Jobcast): Promise<void> {
  const api = `http://127.0.0.1:${port}/job/api`
  const put = async (path: string, body: object) => {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
    const reply = await fetch(api + path, { method: 'PUT', headers, body: JSON.stringify(body) })
    if (!reply.ok) throw new Error(`PUT ${path}: ${await reply.text()}`)
    await reply.arrayBuffer()
  }
  await put(`/jobs/${jobName}`, {})
  const devices = fleet.values()
  const putDevices = async () => {
    for (const { deviceId, deviceName } of devices) await put(`/devices/${deviceId}`, { deviceName })
  }
  await Promise.all(Array.from({ length: 64 }, putDevices))
}
