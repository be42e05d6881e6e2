// Callers with restricted keys: which routes they may use, and which resources in paths they can see. The rules are in
// domain/access/restriction.ts, restricted-operations.ts and device-operations.ts.

import { ApiError } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'
import type { Caller } from '../../domain/access/caller.ts'
import { type DeviceRule, deviceRuleOf } from '../../domain/access/device-operations.ts'
import { devicesWithin, reachOf } from '../../domain/access/device-reach.ts'
import { type RestrictedRule, restrictedRuleOf } from '../../domain/access/restricted-operations.ts'
import {
  isConfined,
  isConfinedToDevices,
  isConfinedToJobs,
  mayUseJob,
} from '../../domain/access/restriction.ts'
import { notFound } from '../../domain/common/not-found.ts'
import type { Store } from '../../domain/common/ports/store.ts'
import { runInReach } from '../../domain/trigger/run-in-reach.ts'
import type { App } from '../app-type.ts'

type ConfineDeps = {
  store: Pick<Store, 'getRun' | 'getExecution' | 'getSchedule' | 'matchDevices' | 'countRunsWithin'>
}

/** Must be called before the first route is added. */
export function confineCallers(app: App, deps: ConfineDeps): void {
  app.addHook('onRoute', (route) => {
    const restricted = restrictedRuleOf(route.schema?.operationId)
    const restrictedToDevices = deviceRuleOf(route.schema?.operationId)
    if (restricted !== undefined) route.config = { ...route.config, restricted }
    if (restrictedToDevices !== undefined) route.config = { ...route.config, restrictedToDevices }
  })
  app.addHook('preHandler', (request, _reply, done) => {
    const { caller } = request
    if (caller?.restriction === undefined || !isConfined(caller)) done()
    else requireSubjects(deps, caller, request).then(() => done(), done)
  })
}

/** J-814 for routes that define no rule for restrictions. Unknown routes and methods get the usual errors. */
export function refuseConfined({ is404, route }: FastifyRequest, caller: Caller): void {
  if (is404 || route.isWrongMethod || !isConfined(caller)) return
  if (isConfinedToJobs(caller) && route.restricted === undefined) throw new ApiError('J-814')
  if (isConfinedToDevices(caller) && route.restrictedToDevices === undefined) throw new ApiError('J-814')
}

/** Resources outside the restriction get the same error as unknown ones. */
async function requireSubjects(
  deps: ConfineDeps,
  caller: Caller,
  { route, params }: FastifyRequest,
): Promise<void> {
  if (isConfinedToJobs(caller)) await requireJobOf(deps, caller, route.restricted, params as Subject)
  if (isConfinedToDevices(caller))
    await requireDeviceOf(deps, caller, route.restrictedToDevices, params as Subject)
}

async function requireJobOf(
  { store }: ConfineDeps,
  caller: Caller,
  rule: RestrictedRule | undefined,
  { jobName, runId, jobExecutionId, scheduleName }: Subject,
): Promise<void> {
  const { ownerNo } = caller
  const isOutside = (found: { jobName: string } | undefined) =>
    found === undefined || !mayUseJob(caller, found.jobName)
  switch (rule) {
    case 'open':
    case 'applies':
      return
    case 'job':
      if (isOutside({ jobName })) throw notFound('J-301', jobName)
      return
    case 'run':
      if (isOutside(await store.getRun({ ownerNo, runId }))) throw notFound('J-304', runId)
      return
    case 'execution':
      if (isOutside(await store.getExecution({ ownerNo, jobExecutionId })))
        throw notFound('J-302', jobExecutionId)
      return
    case 'schedule':
      if (isOutside(await store.getSchedule({ ownerNo, scheduleName }))) throw notFound('J-310', scheduleName)
      return
    case undefined:
      throw new ApiError('J-814')
  }
}

async function requireDeviceOf(
  deps: ConfineDeps,
  caller: Caller,
  rule: DeviceRule | undefined,
  { deviceId, runId, jobExecutionId }: Subject,
): Promise<void> {
  const { store } = deps
  const { ownerNo } = caller
  const reach = reachOf(caller)
  if (reach === undefined) return
  const exists = async (id: string) => (await devicesWithin(deps, caller, reach, [id])).has(id)
  switch (rule) {
    case 'open':
    case 'applies':
      return
    case 'device':
      if (!(await exists(deviceId))) throw new ApiError('J-001')
      return
    case 'execution': {
      const found = await store.getExecution({ ownerNo, jobExecutionId })
      if (found === undefined || !(await exists(found.deviceId))) throw notFound('J-302', jobExecutionId)
      return
    }
    case 'run':
    case 'whole-run': {
      const run = await store.getRun({ ownerNo, runId })
      const seen = run && (await runInReach(deps, caller, run))
      if (seen === undefined) throw notFound('J-304', runId)
      if (rule === 'whole-run' && !seen.isWhole) throw new ApiError('J-814')
      return
    }
    case undefined:
      throw new ApiError('J-814')
  }
}

type Subject = {
  jobName: string
  deviceId: string
  runId: number
  jobExecutionId: number
  scheduleName: string
}
