// Serves one device request over any transport: takes its fields, returns the answer as JSON text.

import type { DeviceOperation } from '@jobcast/contract'
import { type AttributeDeps, reportAttributes, reportedOf } from '../domain/device/attributes.ts'
import type { DeviceKey } from '../domain/device/device-key.ts'
import type { SeenQueue } from '../domain/device/ports/device-link.ts'
import type { DeviceExecution } from '../domain/execution/device-report.ts'
import {
  clientTokenOf,
  parseDescribe,
  parseOutput,
  parseStartNext,
  parseUpdate,
} from '../domain/execution/device-request.ts'
import { type OutputDeps, recordOutput } from '../domain/execution/record-output.ts'
import {
  describeExecution,
  readPending,
  recordUpdate,
  startNext,
  updatedBy,
} from '../domain/execution/report-execution.ts'
import {
  type AnswerFormat,
  type DocumentAs,
  executionAnswerJson,
  pendingJson,
  toSeconds,
  updateAnswerJson,
} from './to-device.ts'

export type GatewayDeps = OutputDeps & AttributeDeps

/**
 * `gap`: the answer names the expected output offset. `shown`: the executions in the answer; `seen`: what it tells about
 * the queue. Throws DeviceError for refused requests.
 */
export type Served = {
  json: string
  gap: boolean
  shown: readonly DeviceExecution[]
  seen: SeenQueue | undefined
}

export async function serveOperation(
  deps: GatewayDeps,
  device: DeviceKey,
  operation: DeviceOperation,
  fields: Record<string, unknown>,
  documentAs: DocumentAs,
): Promise<Served> {
  if (operation.name === 'attributes') return serveAttributes(deps, device, fields)
  const clientToken = clientTokenOf(fields)
  const format = (): AnswerFormat => ({ ...deps.moment(), documentAs })
  const { deviceId } = device
  switch (operation.name) {
    case 'get': {
      const queue = await readPending(deps, device)
      return accepted(pendingJson(queue, format(), clientToken), queue.executions, { queue })
    }
    case 'start-next': {
      const started = await startNext(deps, device, parseStartNext(fields))
      const json = executionAnswerJson(deviceId, started, format(), clientToken)
      return accepted(json, [], { next: started?.execution })
    }
    case 'describe': {
      const request = parseDescribe(fields, documentAs === 'object')
      const found = await describeExecution(deps, device, operation.jobId, request)
      const json = executionAnswerJson(deviceId, found, format(), clientToken)
      const seen = operation.jobId === '$next' ? { next: found?.execution } : undefined
      return accepted(json, found ? [found.execution] : [], seen)
    }
    case 'update': {
      const request = parseUpdate(fields)
      const outcome = await recordUpdate(deps, device, operation.jobId, request)
      const updating = updatedBy(deps, device, operation.jobId, request, outcome)
      const updated = updating instanceof Promise ? await updating : updating
      return accepted(updateAnswerJson(updated, request.wantsState, format(), clientToken))
    }
    case 'output': {
      const kept = await recordOutput(deps, device, operation.jobId, parseOutput(fields))
      return { ...accepted(outputJson(kept, deps.moment().at, clientToken)), gap: kept.gap }
    }
  }
}

/** Answers with a shadow document over all transports. */
async function serveAttributes(
  deps: GatewayDeps,
  device: DeviceKey,
  fields: Record<string, unknown>,
): Promise<Served> {
  const reported = reportedOf(fields)
  const clientToken = reported === fields ? undefined : clientTokenOf(fields)
  const state = { reported: await reportAttributes(deps, device, reported) }
  return accepted(JSON.stringify({ state, timestamp: toSeconds(deps.moment().at), clientToken }))
}

function accepted(json: string, shown: readonly DeviceExecution[] = [], seen?: SeenQueue): Served {
  return { json, gap: false, shown, seen }
}

/** `offset` is the offset of the next bytes. */
function outputJson(
  kept: { length: number; cut: boolean; gap: boolean },
  at: number,
  clientToken: string | undefined,
): string {
  const { length: offset, cut, gap } = kept
  const refusal = gap ? { code: 'InvalidRequest', message: `The offset must be ${offset}.` } : {}
  return JSON.stringify({ ...refusal, offset, ...(cut && { cut }), timestamp: toSeconds(at), clientToken })
}
