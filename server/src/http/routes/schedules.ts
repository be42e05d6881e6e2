// Schedules, which create runs automatically.

import { OccurrenceQuery, Occurrences, Run, Schedule, ScheduleParams, schedules } from '@jobcast/contract'
import type { Caller } from '../../domain/access/caller.ts'
import { notFound } from '../../domain/common/not-found.ts'
import { type FireDeps, fireNow } from '../../domain/schedule/fire-schedule.ts'
import type { StoredSchedule } from '../../domain/schedule/ports/schedules.ts'
import {
  deleteSchedule,
  getSchedule,
  listOccurrences,
  listSchedules,
  pauseSchedule,
  putSchedule,
  resumeSchedule,
  type ScheduleDeps,
} from '../../domain/schedule/schedule.ts'
import { type ScheduleView, viewSchedules } from '../../domain/schedule/view-schedule.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { type AnswerRunDeps, answerRun } from '../wire/answer-run.ts'
import { toSchedule } from '../wire/schedule-to-wire.ts'
import { serveResource } from './serve-resource.ts'

export type ScheduleRouteDeps = ScheduleDeps & FireDeps & AnswerRunDeps

const url = '/job/api/schedules/:scheduleName'

export function addSchedules(app: App, deps: ScheduleRouteDeps): void {
  serveResource(app, schedules, {
    put: async (...put) => {
      const { created, value } = await putSchedule(deps, ...put)
      return { created, value: await view(deps, put[0], value) }
    },
    get: async (caller, name) => view(deps, caller, await getSchedule(deps, caller, name)),
    list: async (caller, slice) => {
      const found = await listSchedules(deps, caller, slice)
      return { ...found, items: await viewSchedules(deps, caller, found.items) }
    },
    delete: (caller, name) => deleteSchedule(deps, caller, name),
    toView: toSchedule,
  })

  app.route({
    method: 'GET',
    url: `${url}/next`,
    config: { scopes: ['READ'], refusals: ['J-310'] },
    schema: {
      operationId: 'listNextOccurrences',
      tags: ['schedules'],
      summary: 'List the next occurrences of a schedule',
      description: 'Ignores jitter, and whether the schedule is paused. Empty with `match`.',
      params: ScheduleParams,
      querystring: OccurrenceQuery,
      response: { 200: Occurrences },
    },
    handler: (request) =>
      listOccurrences(deps, callerOf(request), request.params.scheduleName, request.query.count),
  })

  addChanges(app, deps)
}

async function answer(deps: ScheduleRouteDeps, caller: Caller, schedule: StoredSchedule): Promise<Schedule> {
  return toSchedule(await view(deps, caller, schedule))
}

async function view(
  deps: ScheduleRouteDeps,
  caller: Caller,
  schedule: StoredSchedule,
): Promise<ScheduleView> {
  const [shown] = await viewSchedules(deps, caller, [schedule])
  if (shown === undefined) throw notFound('J-310', schedule.scheduleName)
  return shown
}

function addChanges(app: App, deps: ScheduleRouteDeps): void {
  app.route({
    method: 'POST',
    url: `${url}/pause`,
    config: { scopes: ['MANAGE'], refusals: ['J-310', 'J-908'] },
    schema: {
      operationId: 'pauseSchedule',
      tags: ['schedules'],
      summary: 'Pause a schedule',
      description: 'It creates no more runs; existing runs continue.',
      params: ScheduleParams,
      response: { 200: Schedule },
    },
    handler: async (request) =>
      answer(
        deps,
        callerOf(request),
        await pauseSchedule(deps, callerOf(request), request.params.scheduleName),
      ),
  })

  app.route({
    method: 'POST',
    url: `${url}/resume`,
    config: { scopes: ['MANAGE'], alsoScope: 'TRIGGER', refusals: ['J-301', 'J-310', 'J-908'] },
    schema: {
      operationId: 'resumeSchedule',
      tags: ['schedules'],
      summary: 'Resume a schedule',
      description:
        'From its next occurrence on; occurrences during the pause are not run. From now on its runs count as created by ' +
        'the calling key, which needs TRIGGER as well as MANAGE.',
      params: ScheduleParams,
      response: { 200: Schedule },
    },
    handler: async (request) =>
      answer(
        deps,
        callerOf(request),
        await resumeSchedule(deps, callerOf(request), request.params.scheduleName),
      ),
  })

  app.route({
    method: 'POST',
    url: `${url}/fire`,
    config: {
      scopes: ['TRIGGER'],
      refusals: ['J-301', 'J-309', 'J-310', 'J-502', 'J-503', 'J-504', 'J-908', 'J-912'],
    },
    schema: {
      operationId: 'fireSchedule',
      tags: ['schedules'],
      summary: 'Create a run of a schedule now',
      description:
        'In addition to its occurrences, even while it is paused. Its `overlap` applies: if every device still has an ' +
        'unfinished execution of the schedule, the response is J-504.',
      params: ScheduleParams,
      response: {
        201: {
          ...Run,
          headers: { location: { type: 'string', description: 'The run: /job/api/runs/{runId}' } },
        },
      },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const runId = await fireNow(deps, caller, request.params.scheduleName)
      request.runId = runId
      return reply
        .code(201)
        .header('location', `/job/api/runs/${runId}`)
        .send(await answerRun(deps, caller, runId))
    },
  })
}
