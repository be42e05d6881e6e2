// Schemas of the device operations for the OpenAPI document. They validate nothing.

import { AttributeValue, DeviceCredential, JobEnvelope, orNull, reportedStatuses } from '@jobcast/contract'
import Type, { type TSchema } from 'typebox'

const seconds = Type.Integer({ description: 'Seconds since 1970' })
const clientToken = Type.Optional(Type.String({ description: 'Returned in the response' }))

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

const status = Type.String({ description: 'QUEUED, IN_PROGRESS, or a final status' })
const statusDetails = Type.Record(Type.String(), Type.String())

const withDocument = {
  jobDocument: Type.Optional(
    Type.String({ description: "The job's document as JSON text, with its placeholders filled in" }),
  ),
  jobName: Type.Optional(Type.String({ description: 'The name of the job, if it is signed' })),
  jobSignature: Type.Optional(JobEnvelope),
  runId: Type.Optional(
    Type.Integer({
      description:
        'The run, if the job is signed and declares parameters or has placeholders in its document',
    }),
  ),
  parameters: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'The values of the run, if the job declares parameters',
    }),
  ),
  files: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object({
        version: Type.String(),
        url: Type.String({ description: 'Holds for an hour' }),
        size: Type.Integer(),
        sha256: Type.String(),
        sha1: orNull(Type.String()),
        md5: orNull(Type.String()),
      }),
      { description: 'The files that the document names' },
    ),
  ),
}

const DeviceJobExecution = Type.Object(
  {
    ...Summary.properties,
    thingName: Type.String({ description: 'The deviceId' }),
    status,
    statusDetails,
    approximateSecondsBeforeTimedOut: Type.Optional(Type.Integer()),
    ...withDocument,
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

const OutputStored = Type.Object(
  {
    offset: Type.Integer({ description: 'Offset of the next bytes' }),
    cut: Type.Optional(Type.Boolean({ description: 'The output was truncated' })),
    timestamp: seconds,
    clientToken,
  },
  { title: 'OutputStored' },
)

const OutputGap = Type.Object(
  { ...OutputStored.properties, code: Type.String(), message: Type.String() },
  { title: 'OutputGap' },
)

const progress = {
  statusDetails: Type.Optional(statusDetails),
  stepTimeoutInMinutes: Type.Optional(Type.Integer({ description: '1 to 10080; -1 removes the timer' })),
  clientToken,
}

const common = { tags: ['device protocol'], security: [{ deviceToken: [] }, { deviceCertificate: [] }] }
const thing = Type.String({ description: 'The deviceId' })
const jobId = Type.String({ description: 'The jobExecutionId in decimal' })
const jobIdOrNext = Type.String({ description: 'The jobExecutionId in decimal, or $next' })
const ExecutionAnswer = Type.Object({
  execution: Type.Optional(DeviceJobExecution),
  timestamp: seconds,
  clientToken,
})

/** Answers are already JSON text. */
const answer = (schema: TSchema) => Type.Unsafe<string>(schema)

function refusals(reasons: Record<number, string>): Record<number, object> {
  return exceptions({ 403: 'The token belongs to another device', ...reasons })
}

function exceptions(reasons: Record<number, string>): Record<number, object> {
  const all = { 401: 'Invalid device token', ...reasons }
  const header = { 'x-amzn-errortype': Type.String({ description: 'The name of the exception' }) }
  return Object.fromEntries(
    Object.entries({ ...all, 429: 'Too many requests', 503: 'Storage is not available' }).map(
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
  summary: 'List pending and running executions of the device',
  params: Type.Object({ thing }),
  querystring: Type.Object({
    wait: Type.Optional(
      Type.Integer({ description: 'Long poll: seconds to wait until something is pending, 0 to 60' }),
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
    ...refusals({ 400: '`wait` is out of range' }),
  },
}

export const describeDescribe = {
  ...common,
  operationId: 'describeJobExecution',
  summary: 'Get an execution, or the next one',
  params: Type.Object({ thing, jobId: jobIdOrNext }),
  querystring: Type.Object({
    executionNumber: Type.Optional(Type.Integer({ description: 'The attempt' })),
    includeJobDocument: Type.Optional(Type.Boolean({ description: 'Default false' })),
  }),
  response: {
    200: answer(ExecutionAnswer),
    ...refusals({ 400: 'Invalid query', 404: 'Unknown execution', 410: 'The execution has ended' }),
  },
}

export const describeStartNext = {
  ...common,
  operationId: 'startNextPendingJobExecution',
  summary: 'Start the next execution, or get the one that is running',
  params: Type.Object({ thing, jobId: Type.String({ description: 'Always $next', examples: ['$next'] }) }),
  body: Type.Object(progress, { title: 'StartNextRequest' }),
  response: {
    200: answer(ExecutionAnswer),
    ...refusals({ 400: 'Invalid body', 405: 'Only $next can be started', 413: 'Larger than 128 KiB' }),
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
      result: Type.Optional(Type.Unknown({ description: 'Any JSON up to 64 KiB, returned to the owner' })),
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
        ...withDocument,
      }),
    ),
    ...refusals({
      400: 'Invalid body',
      404: 'Unknown execution',
      409: 'The state or the version of the execution does not allow this',
      413: 'Larger than 128 KiB',
    }),
  },
}

export const describeOutput = {
  ...common,
  operationId: 'appendOutput',
  summary: 'Append to the output of an execution; each byte is stored once',
  description: 'As JSON; or as raw bytes with any other Content-Type and `offset` in the query.',
  params: Type.Object({ thing, jobId }),
  querystring: Type.Object({
    offset: Type.Optional(Type.Integer({ description: 'For raw bytes: their offset' })),
    executionNumber: Type.Optional(Type.Integer({ description: 'For raw bytes: the attempt' })),
  }),
  body: Type.Object(
    {
      offset: Type.Integer({ description: 'Offset of the bytes' }),
      data: Type.String(),
      encoding: Type.Optional(Type.String({ enum: ['utf-8', 'base64'], description: 'Default utf-8' })),
      executionNumber: Type.Optional(Type.Integer({ description: 'The attempt' })),
      clientToken,
    },
    { title: 'OutputRequest' },
  ),
  response: {
    200: answer(OutputStored),
    ...refusals({ 400: 'Invalid body', 404: 'Unknown execution', 413: 'Larger than 128 KiB' }),
    409: {
      description: 'Earlier bytes are missing: `offset` is the expected one; or the execution is not running',
      content: { 'application/json': { schema: Type.Union([OutputGap, Exception]) } },
    },
  },
}

export const describeAttributes = {
  ...common,
  operationId: 'reportAttributes',
  summary: 'Report attributes of the device',
  description: 'Merged with the attributes that were reported earlier; null removes an attribute.',
  params: Type.Object({ thing }),
  body: Type.Record(Type.String(), Type.Union([AttributeValue, Type.Null()]), {
    title: 'ReportedAttributes',
    examples: [{ fw: '2.4.1', beta: null }],
  }),
  response: {
    200: answer(
      Type.Object({
        state: Type.Object({ reported: Type.Record(Type.String(), Type.Unknown()) }),
        timestamp: seconds,
        clientToken,
      }),
    ),
    ...refusals({ 400: 'Invalid body, or too many attributes', 413: 'Larger than 128 KiB' }),
  },
}

export const describeEnroll = {
  ...common,
  security: [{ enrollmentToken: [] }],
  operationId: 'enrollDevice',
  summary: 'Exchange an enrollment token for a device token',
  description:
    'Creates the device if it does not exist. With a `claim` the call can be repeated for ten minutes: the same ' +
    'enrollment, device and claim return a new token that replaces the lost one, and count as one use.',
  params: Type.Object({ thing }),
  body: Type.Object(
    {
      deviceName: Type.Optional(
        Type.String({ description: 'Name of the device if it is created; default: the deviceId' }),
      ),
      claim: Type.Optional(
        Type.String({
          description: 'Random text generated by the device: 16 to 128 visible ASCII characters',
        }),
      ),
    },
    { title: 'EnrollRequest' },
  ),
  response: {
    201: DeviceCredential,
    ...exceptions({
      400: 'Invalid deviceId or body',
      409: 'The device already has a credential, or its owner has revoked it',
      413: 'Larger than 128 KiB',
    }),
  },
}
