// A job has a name, a document with instructions for devices, and policies.

import Type, { type Static } from 'typebox'
import { Approval, approvalOf } from '../approval.ts'
import { JobEnvelope } from '../job-signature.ts'
import { Page } from '../page.ts'
import type { ParameterSchema } from '../parameters/parameter-schema.ts'
import { Priority, shownPriority } from '../priority.ts'
import { Rollout } from '../rollout.ts'
import { maxSignatures } from '../signature/index.ts'
import { Instant, keyNameOf, NewJobName, orNull, Prose } from '../text.ts'
import type { Resource } from './resource.ts'
import { shownWindow, WindowName } from './windows.ts'

const seconds = (description: string) => Type.Integer({ minimum: 1, maximum: 31_536_000, description })

export const retriedStates = ['FAILED', 'TIMED_OUT'] as const
export type RetriedState = (typeof retriedStates)[number]

const policies = {
  expireAfterSeconds: seconds('How long an execution may stay PENDING before it becomes EXPIRED'),
  timeoutSeconds: seconds('How long an attempt may stay IN_PROGRESS before it becomes TIMED_OUT'),
  deadlineSeconds: seconds('How long an execution may take in total, including all attempts'),
  retry: Type.Object(
    {
      max: Type.Integer({
        minimum: 1,
        maximum: 100,
        description: 'Maximum number of retries after the first attempt',
      }),
      backoffSeconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 86_400,
          description:
            'Delay before the first retry; default 10. It doubles with every further retry, up to one day, and is shortened by a random share of up to half',
        }),
      ),
      on: Type.Optional(
        Type.Array(Type.Unsafe<RetriedState>({ type: 'string', enum: [...retriedStates] }), {
          minItems: 1,
          uniqueItems: true,
          description: 'States that are retried; default both',
        }),
      ),
    },
    {
      additionalProperties: false,
      description: 'Retry policy: when an attempt ends in one of these states, another attempt follows',
    },
  ),
}

export const JobDocument = Type.Record(Type.String(), Type.Unknown(), {
  title: 'JobDocument',
  description: 'Any JSON object: instructions for the device',
})
export type JobDocument = Static<typeof JobDocument>

/** The whole content of a job: PUT resets omitted fields. */
export const JobContent = Type.Object(
  {
    description: Type.Optional(Prose),
    document: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'Any JSON object up to 64 KiB. Placeholders in its texts, such as `${params.x}` and `${secrets.NAME}`, are ' +
          'replaced when a device gets it; `$${` is a literal `${`',
      }),
    ),
    parameters: Type.Optional(
      Type.Unsafe<ParameterSchema>({
        type: 'object',
        additionalProperties: true,
        description:
          'JSON Schema 2020-12 of the parameters of its runs, at most 16 KiB: an object of string, number, integer, ' +
          'boolean, and arrays of these. `writeOnly` makes a parameter a secret',
        examples: [{ type: 'object', properties: { version: { type: 'string' } }, required: ['version'] }],
      }),
    ),
    expireAfterSeconds: Type.Optional(policies.expireAfterSeconds),
    timeoutSeconds: Type.Optional(policies.timeoutSeconds),
    deadlineSeconds: Type.Optional(policies.deadlineSeconds),
    retry: Type.Optional(policies.retry),
    rollout: Type.Optional(
      Type.Unsafe<Rollout>({
        ...Rollout,
        description:
          'How its runs are released, unless a run has its own rollout; applies to the trigger call as well',
      }),
    ),
    approval: Type.Optional(
      approvalOf(
        'Its runs require approval by others: true for one approval, or the number of approvals; default false. Removing ' +
          'or lowering it needs APPROVE',
      ),
    ),
    window: Type.Optional(
      Type.Unsafe<string>({
        ...WindowName,
        description:
          'Name of the window in which its executions are offered, unless a run names another; applies to the trigger call as well',
      }),
    ),
    priority: Type.Optional(
      Type.Integer({
        ...Priority,
        description:
          'From 0 to 9, default 5; executions with a higher priority are offered first to a device, also those of the trigger call',
      }),
    ),
    signatures: Type.Optional(
      Type.Array(JobEnvelope, {
        maxItems: maxSignatures,
        description:
          'Signatures of the authors for this job and this version; several envelopes must have the same payload, and ' +
          'are merged into one. Devices get it as `jobSignature`',
      }),
    ),
  },
  {
    title: 'JobContent',
    additionalProperties: false,
    examples: [
      {
        description: 'Restarts the kiosk application',
        document: { handler: 'restart', args: ['kiosk-app'] },
      },
    ],
  },
)
export type JobContent = Static<typeof JobContent>

const Retry = Type.Object({
  max: Type.Integer(),
  backoffSeconds: Type.Integer(),
  on: Type.Array(Type.Unsafe<RetriedState>({ type: 'string', enum: [...retriedStates] })),
})
export type Retry = Static<typeof Retry>
/** Defaults for omitted fields of a retry policy. */
export const defaultRetry: Omit<Retry, 'max'> = { backoffSeconds: 10, on: [...retriedStates] }

export const maxDocumentBytes = 64 * 1024

const storedContent = {
  description: Type.String(),
  document: Type.Record(Type.String(), Type.Unknown()),
  parameters: orNull(Type.Unsafe<ParameterSchema>({ type: 'object', additionalProperties: true }), {
    description: 'JSON Schema of the parameters of its runs',
  }),
  expireAfterSeconds: orNull(policies.expireAfterSeconds),
  timeoutSeconds: orNull(policies.timeoutSeconds),
  deadlineSeconds: orNull(policies.deadlineSeconds),
  retry: orNull(Retry),
  rollout: orNull(Rollout),
  approval: Approval,
  window: shownWindow,
  priority: Type.Integer({ ...shownPriority }),
  signatures: Type.Array(JobEnvelope, { description: 'One envelope, or none' }),
}

export const Job = Type.Object(
  {
    jobName: Type.String(),
    version: Type.Integer({
      description: 'Numbered from 1; each change of the job creates the next version',
    }),
    ...storedContent,
    createdAt: Instant,
    updatedAt: Instant,
    updatedBy: orNull(Type.String({ examples: ['key:3f9aZ0qLxw'] }), {
      description: 'Who created the current version: `key:<keyId>`, or `user:<subject>` for a person',
    }),
    updatedByName: keyNameOf('updatedBy'),
  },
  { title: 'Job' },
)
export type Job = Static<typeof Job>

export const JobParams = Type.Object({ jobName: NewJobName })

/** A version never changes. */
export const JobVersion = Type.Object(
  {
    jobName: Type.String(),
    version: Type.Integer(),
    isCurrent: Type.Boolean({ description: 'New runs use it, unless they name another one' }),
    ...storedContent,
    createdAt: Instant,
    createdBy: orNull(Type.String({ examples: ['key:3f9aZ0qLxw'] }), {
      description: 'Who created it: `key:<keyId>`',
    }),
    createdByName: keyNameOf('createdBy'),
  },
  { title: 'JobVersion' },
)
export type JobVersion = Static<typeof JobVersion>

export const JobVersionNumber = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
export const JobVersionParams = Type.Object({ jobName: NewJobName, version: JobVersionNumber })
export const JobVersionPage = Page(JobVersion)

export const jobs = {
  name: 'jobs',
  noun: 'job',
  about: 'Jobs',
  key: 'jobName',
  params: JobParams,
  content: JobContent,
  view: Job,
  deletion: Type.Object(
    {
      force: Type.Boolean({
        default: false,
        description: 'Delete it even if schedules or waiting runs need it; its schedules are paused',
      }),
    },
    { additionalProperties: false },
  ),
  scopes: { read: 'READ', write: 'MANAGE' },
  quota: 'jobs',
  notFound: 'J-301',
  inUse: 'J-315',
  refusals: { put: ['J-311', 'J-318', 'J-319'] },
  events: { created: 'job.changed', updated: 'job.changed', deleted: 'job.deleted' },
  texts: {
    put:
      'Creates the next version of the job, unless nothing has changed. Existing runs keep the version they were ' +
      'triggered with. `execute` is a reserved name.',
    delete:
      'Rejected (J-315) while schedules or runs with pending executions need it, unless `force` is true. Then its schedules ' +
      'are paused; existing executions continue.',
  },
} as const satisfies Resource
