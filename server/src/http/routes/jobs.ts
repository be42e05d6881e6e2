// Jobs.

import { jobs } from '@jobcast/contract'
import { jobTag } from '../../domain/common/entity-tag.ts'
import { deleteJob, getJob, type JobDeps, listJobs, putJob } from '../../domain/job/job.ts'
import type { StoredJob } from '../../domain/job/ports/jobs.ts'
import type { App } from '../app-type.ts'
import { toJob } from '../wire/to-wire.ts'
import { serveResource } from './serve-resource.ts'

export function addJobs(app: App, deps: JobDeps): void {
  serveResource(app, jobs, {
    put: (...put) => putJob(deps, ...put),
    get: (...job) => getJob(deps, ...job),
    list: (caller, slice) => listJobs(deps, caller, slice),
    delete: (caller, name, before, { force }) => deleteJob(deps, caller, name, { ...before, force }),
    toView: (job: StoredJob, _caller, keyNames) => toJob(job, keyNames),
    makers: { of: ({ updatedBy }: StoredJob) => updatedBy, deps },
    tagOf: jobTag,
  })
}
