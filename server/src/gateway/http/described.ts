// The operations as the OpenAPI document shows them. Nothing here judges a request.

import { DeviceCredential, reportedStatuses } from '@jobcast/contract'
import Type, { type TSchema } from 'typebox'

const seconds = Type.Integer({ description: 'Seconds since 1970' })
const clientToken = Type.Optional(Type.String({ description: 'Comes back in the answer' }))

const Summary = Type.Object(
  {
    jobId: Type.String({ description: 'The jobExecutionId in decimal' }),
    queuedAt: seconds,
    startedAt: Type.Optional(seconds),
    lastUpdatedAt: seconds,
    versionNumber: Type.Integer(),
    executionNumber: Type.Integer({ description: 'The attempt' }),
  },
  { title: 'JobExecutionSummary' },
)

const status = Type.String({ description: 'QUEUED, IN_PROGRESS, or how it ended' })
const statusDetails = Type.Record(Type.String(), Type.String())

const DeviceJobExecution = Type.Object(
  {
    ...Summary.properties,
    thingName: Type.String({ description: 'The deviceId' }),
    status,
    statusDetails,
    approximateSecondsBeforeTimedOut: Type.Optional(Type.Integer()),
    jobDocument: Type.Optional(Type.String({ description: "The job's document as JSON text" })),
  },
  { title: 'JobExecution' },
)

const ExecutionState = Type.Object(
  { status, statusDetails, versionNumber: Type.Integer() },
  { title: 'JobExecutionState' },
)

const Exception = Type.Object(
  { message: Type.String(), executionState: Type.Optional(ExecutionState) },
  { title: 'Exception' },
)

const OutputKept = Type.Object(
  {
    offset: Type.Integer({ description: 'Where the next bytes belong' }),
    cut: Type.Optional(Type.Boolean({ description: 'The output is longer than is kept' })),
    timestamp: seconds,
    clientToken,
  },
  { title: 'OutputKept' },
)

const OutputGap = Type.Object(
  { ...OutputKept.properties, code: Type.String(), message: Type.String() },
  { title: 'OutputGap' },
)

const progress = {
  statusDetails: Type.Optional(statusDetails),
  stepTimeoutInMinutes: Type.Optional(Type.Integer({ description: '1 to 10080; -1 discards the timer' })),
  clientToken,
}

const common = { tags: ['device door'], security: [{ deviceToken: [] }] }
const thing = Type.String({ description: 'The deviceId' })
const jobId = Type.String({ description: 'The jobExecutionId in decimal' })
const jobIdOrNext = Type.String({ description: 'The jobExecutionId in decimal, or $next' })
const ExecutionAnswer = Type.Object({
  execution: Type.Optional(DeviceJobExecution),
  timestamp: seconds,
  clientToken,
})

/** An answer is JSON text already. */
const answer = (schema: TSchema) => Type.Unsafe<string>(schema)

function refusals(reasons: Record<number, string>): Record<number, object> {
  return exceptions({ 403: 'It is that of another device', ...reasons })
}

function exceptions(reasons: Record<number, string>): Record<number, object> {
  const all = { 401: 'The token is not good', ...reasons }
  const header = { 'x-amzn-errortype': Type.String({ description: 'The name of the exception' }) }
  return Object.fromEntries(
    Object.entries({ ...all, 429: 'Too much is waiting', 503: 'The storage is not available' }).map(
      ([code, description]) => [
        code,
        { description, headers: header, content: { 'application/json': { schema: Exception } } },
      ],
    ),
  )
}

export const describeGetPending = {
  ...common,
  operationId: 'getPendingJobExecutions',
  summary: 'What waits for the device, and what is under way on it',
  params: Type.Object({ thing }),
  querystring: Type.Object({
    wait: Type.Optional(
      Type.Integer({ description: 'Seconds to hold the answer until there is something, 0 to 60' }),
    ),
  }),
  response: {
    200: answer(
      Type.Object({
        inProgressJobs: Type.Array(Summary),
        queuedJobs: Type.Array(Summary),
        timestamp: seconds,
      }),
    ),
    ...refusals({ 400: 'wait is out of range' }),
  },
}

export const describeDescribe = {
  ...common,
  operationId: 'describeJobExecution',
  summary: 'One execution, or the next one',
  params: Type.Object({ thing, jobId: jobIdOrNext }),
  querystring: Type.Object({
    executionNumber: Type.Optional(Type.Integer({ description: 'The attempt' })),
    includeJobDocument: Type.Optional(Type.Boolean({ description: 'False unless said' })),
  }),
  response: {
    200: answer(ExecutionAnswer),
    ...refusals({ 400: 'The query is not good', 404: 'There is no such execution', 410: 'It has ended' }),
  },
}

export const describeStartNext = {
  ...common,
  operationId: 'startNextPendingJobExecution',
  summary: 'Start the next execution; one that is under way comes again',
  params: Type.Object({ thing, jobId: Type.String({ description: 'Always $next', examples: ['$next'] }) }),
  body: Type.Object(progress, { title: 'StartNextRequest' }),
  response: {
    200: answer(ExecutionAnswer),
    ...refusals({ 400: 'The body is not good', 405: 'Not $next', 413: 'More than 128 KiB' }),
  },
}

export const describeUpdate = {
  ...common,
  operationId: 'updateJobExecution',
  summary: 'Report progress or the end of an execution',
  params: Type.Object({ thing, jobId }),
  body: Type.Object(
    {
      status: Type.String({ enum: [...reportedStatuses] }),
      ...progress,
      result: Type.Optional(Type.Unknown({ description: 'Any JSON up to 64 KiB, for whoever triggered it' })),
      expectedVersion: Type.Optional(Type.Integer()),
      executionNumber: Type.Optional(Type.Integer({ description: 'The attempt' })),
      includeJobExecutionState: Type.Optional(Type.Boolean()),
      includeJobDocument: Type.Optional(Type.Boolean()),
    },
    { title: 'UpdateRequest' },
  ),
  response: {
    200: answer(
      Type.Object({
        timestamp: seconds,
        clientToken,
        executionState: Type.Optional(ExecutionState),
        jobDocument: Type.Optional(Type.String()),
      }),
    ),
    ...refusals({
      400: 'The body is not good',
      404: 'There is no such execution',
      409: 'Its state or its version is another',
      413: 'More than 128 KiB',
    }),
  },
}

export const describeOutput = {
  ...common,
  operationId: 'appendOutput',
  summary: 'Add to the output of an execution; each byte is kept once',
  description: 'As JSON; or the bytes themselves, under any other type, with `offset` in the query.',
  params: Type.Object({ thing, jobId }),
  querystring: Type.Object({
    offset: Type.Optional(Type.Integer({ description: 'For bytes: where they belong' })),
    executionNumber: Type.Optional(Type.Integer({ description: 'For bytes: the attempt' })),
  }),
  body: Type.Object(
    {
      offset: Type.Integer({ description: 'Where the bytes belong' }),
      data: Type.String(),
      encoding: Type.Optional(Type.String({ enum: ['utf-8', 'base64'], description: 'utf-8 unless said' })),
      executionNumber: Type.Optional(Type.Integer({ description: 'The attempt' })),
      clientToken,
    },
    { title: 'OutputRequest' },
  ),
  response: {
    200: answer(OutputKept),
    ...refusals({ 400: 'The body is not good', 404: 'There is no such execution', 413: 'More than 128 KiB' }),
    409: {
      description:
        'Bytes before these are missing, and `offset` is wanted; or the execution is not under way',
      content: { 'application/json': { schema: Type.Union([OutputGap, Exception]) } },
    },
  },
}

export const describeEnroll = {
  ...common,
  security: [{ enrollmentToken: [] }],
  operationId: 'enrollDevice',
  summary: 'Get a token for the device, with that of an enrolment',
  description:
    'Makes the device if there is none. With a `claim` it may be sent again for ten minutes: the same enrolment, ' +
    'device and claim give a new token in place of the one that got lost, and no other use is counted.',
  params: Type.Object({ thing }),
  body: Type.Object(
    {
      deviceName: Type.Optional(
        Type.String({ description: 'Of the device, if it is made; thing unless said' }),
      ),
      claim: Type.Optional(
        Type.String({ description: 'Random, made by the device: 16 to 128 visible ASCII characters' }),
      ),
    },
    { title: 'EnrollRequest' },
  ),
  response: {
    201: DeviceCredential,
    ...exceptions({
      400: 'The deviceId or the body is not good',
      409: 'The device has a credential, or its owner has revoked it',
      413: 'More than 128 KiB',
    }),
  },
}
