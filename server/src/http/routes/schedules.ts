// Schedules: create runs automatically.

import {
  OccurrenceQuery,
  Occurrences,
  PageQuery,
  Run,
  Schedule,
  ScheduleContent,
  SchedulePage,
  ScheduleParams,
} from '@jobcast/contract'
import type { Caller } from '../../domain/access/caller.ts'
import { notFound } from '../../domain/common/not-found.ts'
import { type FireDeps, fireNow } from '../../domain/schedule/fire-schedule.ts'
import type { StoredSchedule } from '../../domain/schedule/ports/schedules.ts'
import {
  deleteSchedule,
  getSchedule,
  listOccurrences,
  pauseSchedule,
  putSchedule,
  resumeSchedule,
  type ScheduleDeps,
} from '../../domain/schedule/schedule.ts'
import { viewSchedules } from '../../domain/schedule/view-schedule.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { noContent } from '../openapi/openapi.ts'
import { type AnswerRunDeps, answerRun } from '../wire/answer-run.ts'
import { textSlice, toPage } from '../wire/cursor.ts'
import { toSchedule } from '../wire/schedule-to-wire.ts'

export type ScheduleRouteDeps = ScheduleDeps & FireDeps & AnswerRunDeps

const url = '/job/api/schedules/:scheduleName'

export function addSchedules(app: App, deps: ScheduleRouteDeps): void {
  app.route({
    method: 'PUT',
    url,
    config: {
      scopes: ['MANAGE'],
      alsoScope: 'TRIGGER',
      refusals: ['J-001', 'J-301', 'J-309', 'J-311', 'J-313', 'J-503', 'J-507', 'J-912'],
    },
    schema: {
      operationId: 'putSchedule',
      tags: ['schedules'],
      summary: 'Create or replace a schedule',
      description:
        'A schedule creates runs: at one time (`at`), by a cron pattern in a time zone (`cron`), or once for every ' +
        'device that matches or starts to match (`match`). A paused schedule stays paused when it is replaced. At most 1,000 per owner. ' +
        'Needs TRIGGER as well as MANAGE.',
      params: ScheduleParams,
      body: ScheduleContent,
      response: {
        200: { ...Schedule, description: 'Replaced' },
        201: { ...Schedule, description: 'Created' },
      },
    },
    handler: async (request, reply) => {
      const { scheduleName } = request.params
      const { created, value } = await putSchedule(deps, callerOf(request), scheduleName, request.body)
      return reply.code(created ? 201 : 200).send(await answer(deps, callerOf(request), value))
    },
  })

  app.route({
    method: 'GET',
    url,
    config: { scopes: ['READ'], refusals: ['J-310'] },
    schema: {
      operationId: 'getSchedule',
      tags: ['schedules'],
      summary: 'Get a schedule',
      params: ScheduleParams,
      response: { 200: Schedule },
    },
    handler: async (request) =>
      answer(
        deps,
        callerOf(request),
        await getSchedule(deps, callerOf(request), request.params.scheduleName),
      ),
  })

  app.route({
    method: 'DELETE',
    url,
    config: { scopes: ['MANAGE'], refusals: ['J-310'] },
    schema: {
      operationId: 'deleteSchedule',
      tags: ['schedules'],
      summary: 'Delete a schedule',
      description: 'Its runs are not affected, and keep its name.',
      params: ScheduleParams,
      response: { 204: noContent('Deleted') },
    },
    handler: async (request, reply) => {
      await deleteSchedule(deps, callerOf(request), request.params.scheduleName)
      return reply.code(204).send(undefined)
    },
  })

  app.route({
    method: 'GET',
    url: '/job/api/schedules',
    config: { scopes: ['READ'] },
    schema: {
      operationId: 'listSchedules',
      tags: ['schedules'],
      summary: 'List schedules, ordered by name',
      querystring: PageQuery,
      response: { 200: SchedulePage },
    },
    handler: async (request) => {
      const caller = callerOf(request)
      const { ownerNo } = caller
      const found = await deps.store.listSchedules({ ownerNo, slice: textSlice(request.query) })
      return toPage({ ...found, items: await viewSchedules(deps, caller, found.items) }, toSchedule)
    },
  })

  app.route({
    method: 'GET',
    url: `${url}/next`,
    config: { scopes: ['READ'], refusals: ['J-310'] },
    schema: {
      operationId: 'listNextOccurrences',
      tags: ['schedules'],
      summary: 'List the next occurrences of a schedule',
      description: 'Without jitter, and as if it were not paused. None with `match`.',
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
  const [view] = await viewSchedules(deps, caller, [schedule])
  if (view === undefined) throw notFound('J-310', schedule.scheduleName)
  return toSchedule(view)
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
