// Versions of jobs.

import { Job, JobParams, JobVersion, JobVersionPage, JobVersionParams, PageQuery } from '@jobcast/contract'
import { readKeyNames } from '../../domain/access/key-names.ts'
import { jobTag } from '../../domain/common/entity-tag.ts'
import type { JobDeps } from '../../domain/job/job.ts'
import { getJobVersion, listJobVersions, restoreJobVersion } from '../../domain/job/job-versions.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { numberSlice, toPage } from '../wire/cursor.ts'
import { etagHeader, expectedTags, IfMatchHeaders, quoted } from '../wire/if-match.ts'
import { toJob, toJobVersion } from '../wire/to-wire.ts'

const url = '/job/api/jobs/:jobName/versions'
/** The limit of the column. */
const maxVersion = 2_147_483_647

export function addJobVersions(app: App, deps: JobDeps): void {
  app.route({
    method: 'GET',
    url,
    config: { scopes: ['READ'], refusals: ['J-301'] },
    schema: {
      operationId: 'listJobVersions',
      tags: ['jobs'],
      summary: 'List the versions of a job, newest first',
      description:
        'Each change of a job creates a version that never changes. If a job is deleted and created again, numbering ' +
        'continues, and its earlier versions are listed as well.',
      params: JobParams,
      querystring: PageQuery,
      response: { 200: JobVersionPage },
    },
    handler: async (request) => {
      const slice = numberSlice(request.query, maxVersion)
      const caller = callerOf(request)
      const found = await listJobVersions(deps, caller, request.params.jobName, slice)
      const makers = found.items.map(({ createdBy }) => createdBy)
      const keyNames = await readKeyNames(deps.store, caller.ownerNo, deps.now(), makers)
      return toPage(found, (version) => toJobVersion(version, keyNames))
    },
  })

  app.route({
    method: 'GET',
    url: `${url}/:version`,
    config: { scopes: ['READ'], refusals: ['J-301', 'J-313'] },
    schema: {
      operationId: 'getJobVersion',
      tags: ['jobs'],
      summary: 'Get a version of a job',
      params: JobVersionParams,
      response: { 200: JobVersion },
    },
    handler: async (request) => {
      const { jobName, version } = request.params
      const caller = callerOf(request)
      const found = await getJobVersion(deps, caller, jobName, version)
      return toJobVersion(
        found,
        await readKeyNames(deps.store, caller.ownerNo, deps.now(), [found.createdBy]),
      )
    },
  })

  app.route({
    method: 'POST',
    url: `${url}/:version/restore`,
    config: { scopes: ['MANAGE'], refusals: ['J-301', 'J-311', 'J-312', 'J-313', 'J-316', 'J-318', 'J-319'] },
    schema: {
      operationId: 'restoreJobVersion',
      tags: ['jobs'],
      summary: 'Restore a version of a job',
      description:
        'Creates a new version with the content of this one. If the current version has the same content, nothing changes. ' +
        'A signed version cannot be restored: its author must sign it again, as the next version.',
      params: JobVersionParams,
      headers: IfMatchHeaders,
      response: { 200: { ...Job, headers: etagHeader } },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const { value } = await restoreJobVersion(deps, caller, request.params, expectedTags(request))
      const keyNames = await readKeyNames(deps.store, caller.ownerNo, deps.now(), [value.updatedBy])
      return reply.header('etag', quoted(jobTag(value))).send(toJob(value, keyNames))
    },
  })
}
