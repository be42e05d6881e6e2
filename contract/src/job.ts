// A job is a named description of what a device shall do: a document, and policies.

import Type, { type Static } from 'typebox'
import { Page } from './page.ts'
import { Instant, NewJobName, orNull, Prose } from './text.ts'

const seconds = (description: string) => Type.Integer({ minimum: 1, maximum: 31_536_000, description })

export const retriedStates = ['FAILED', 'TIMED_OUT'] as const
export type RetriedState = (typeof retriedStates)[number]

const policies = {
  expireAfterSeconds: seconds('How long an execution may wait in PENDING'),
  timeoutSeconds: seconds('How long a device may work on it'),
  deadlineSeconds: seconds('How long all of it may take, attempts included'),
  retry: Type.Object(
    {
      max: Type.Integer({ minimum: 1, maximum: 100, description: 'How many attempts may follow the first' }),
      backoffSeconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 86_400,
          description:
            'Rest before the second attempt, 10 unless said; it doubles with each further one, up to a day, and a random part of up to half is taken off',
        }),
      ),
      on: Type.Optional(
        Type.Array(Type.Unsafe<RetriedState>({ type: 'string', enum: [...retriedStates] }), {
          minItems: 1,
          uniqueItems: true,
          description: 'Which ends are tried again; both unless said',
        }),
      ),
    },
    { additionalProperties: false, description: 'An attempt that ends so is followed by another' },
  ),
}

export const JobDocument = Type.Record(Type.String(), Type.Unknown(), {
  title: 'JobDocument',
  description: 'Any JSON object: what a device is to do, in words that it understands',
})
export type JobDocument = Static<typeof JobDocument>

/** The whole content of a job: what PUT leaves out is empty afterwards. */
export const JobContent = Type.Object(
  {
    description: Type.Optional(Prose),
    document: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Any JSON object up to 64 KiB; devices get it as it is',
      }),
    ),
    expireAfterSeconds: Type.Optional(policies.expireAfterSeconds),
    timeoutSeconds: Type.Optional(policies.timeoutSeconds),
    deadlineSeconds: Type.Optional(policies.deadlineSeconds),
    retry: Type.Optional(policies.retry),
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
/** For what a retry policy leaves out. */
export const defaultRetry: Omit<Retry, 'max'> = { backoffSeconds: 10, on: [...retriedStates] }

export const maxDocumentBytes = 64 * 1024

export const Job = Type.Object(
  {
    jobName: Type.String(),
    description: Type.String(),
    document: Type.Record(Type.String(), Type.Unknown()),
    expireAfterSeconds: orNull(policies.expireAfterSeconds),
    timeoutSeconds: orNull(policies.timeoutSeconds),
    deadlineSeconds: orNull(policies.deadlineSeconds),
    retry: orNull(Retry),
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'Job' },
)
export type Job = Static<typeof Job>

export const JobParams = Type.Object({ jobName: NewJobName })
export const JobPage = Page(Job)
