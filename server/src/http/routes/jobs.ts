// Jobs.

import { Job, JobContent, JobPage, JobParams, PageQuery } from '@jobcast/contract'
import { jobTag } from '../../domain/common/entity-tag.ts'
import { deleteJob, getJob, type JobDeps, putJob } from '../../domain/job/job.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { noContent } from '../openapi/openapi.ts'
import { textSlice, toPage } from '../wire/cursor.ts'
import { emptyBodyAsObject } from '../wire/empty-body.ts'
import { etagHeader, expectedTags, IfMatchHeaders, quoted } from '../wire/if-match.ts'
import { toJob } from '../wire/to-wire.ts'

const url = '/job/api/jobs/:jobName'

export function addJobs(app: App, deps: JobDeps): void {
  app.route({
    method: 'PUT',
    url,
    config: { scopes: ['MANAGE'], refusals: ['J-311', 'J-312', 'J-912'] },
    preValidation: emptyBodyAsObject,
    schema: {
      operationId: 'putJob',
      tags: ['jobs'],
      summary: 'Create or replace a job',
      description:
        'Creates the next version of the job, unless nothing has changed. Existing runs keep the version they were ' +
        'triggered with. `execute` is a reserved name.',
      params: JobParams,
      headers: IfMatchHeaders,
      body: JobContent,
      response: {
        200: { ...Job, description: 'Replaced', headers: etagHeader },
        201: { ...Job, description: 'Created', headers: etagHeader },
      },
    },
    handler: async (request, reply) => {
      const { jobName } = request.params
      const ifMatch = expectedTags(request)
      const { created, value } = await putJob(deps, callerOf(request), jobName, request.body, ifMatch)
      return reply
        .code(created ? 201 : 200)
        .header('etag', quoted(jobTag(value)))
        .send(toJob(value))
    },
  })

  app.route({
    method: 'GET',
    url,
    config: { scopes: ['READ'], refusals: ['J-301'] },
    schema: {
      operationId: 'getJob',
      tags: ['jobs'],
      summary: 'Get a job',
      params: JobParams,
      response: { 200: { ...Job, headers: etagHeader } },
    },
    handler: async (request, reply) => {
      const job = await getJob(deps, callerOf(request), request.params.jobName)
      return reply.header('etag', quoted(jobTag(job))).send(toJob(job))
    },
  })

  app.route({
    method: 'DELETE',
    url,
    config: { scopes: ['MANAGE'], refusals: ['J-301', 'J-312'] },
    schema: {
      operationId: 'deleteJob',
      tags: ['jobs'],
      summary: 'Delete a job',
      description: 'Existing executions continue.',
      params: JobParams,
      headers: IfMatchHeaders,
      response: {
        204: noContent('Deleted'),
      },
    },
    handler: async (request, reply) => {
      await deleteJob(deps, callerOf(request), request.params.jobName, expectedTags(request))
      return reply.code(204).send(undefined)
    },
  })

  app.route({
    method: 'GET',
    url: '/job/api/jobs',
    config: { scopes: ['READ'] },
    schema: {
      operationId: 'listJobs',
      tags: ['jobs'],
      summary: 'List jobs, ordered by name',
      querystring: PageQuery,
      response: { 200: JobPage },
    },
    handler: async (request) =>
      toPage(
        await deps.store.listJobs({ ownerNo: callerOf(request).ownerNo, slice: textSlice(request.query) }),
        toJob,
      ),
  })
}
