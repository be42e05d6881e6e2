// An execution as the server hands it out.

import { asObject, parseObject } from '../transport/transport.ts'

export type Offered = {
  jobId: string
  attempt: number
  /** When it was launched, by the server's clock, in seconds. */
  queuedAt: number | undefined
  /** The id of the agent that started it, from its statusDetails. */
  begunBy: string | undefined
  document: unknown
  /** The job's name and the envelope that its authors have signed, if any. Not verified yet. */
  jobName: string | undefined
  jobSignature: unknown
  runId: unknown
  /** The parameters of the run, if the job declares any. */
  parameters?: Readonly<Record<string, unknown>>
  /** The named secrets that the document uses. */
  secrets?: Readonly<Record<string, unknown>>
  /** URL, size and hash of the files that the document names, according to the server. */
  files?: Readonly<Record<string, unknown>>
  /** W3C Trace Context of the call that launched it. */
  traceParent?: string
  /** When the server times it out, in milliseconds of performance.now(). */
  givenUpAt: number | undefined
}

/** Undefined: nothing is pending. Throws if the answer does not follow the protocol. */
export function parseOffered(json: Record<string, unknown>, receivedAt: number): Offered | undefined {
  if (json.execution === undefined) return undefined
  const execution = asObject(json.execution) ?? {}
  const { jobId, executionNumber, queuedAt, jobDocument, jobName } = execution
  const secondsLeft = execution.approximateSecondsBeforeTimedOut
  const parameters = asObject(execution.parameters)
  const secrets = asObject(execution.secrets)
  const files = asObject(execution.files)
  const begunBy = asObject(execution.statusDetails)?.agent
  if (typeof jobId !== 'string' || !/^\d{1,20}$/.test(jobId)) throw new Error('the server sent no jobId')
  if (!Number.isSafeInteger(executionNumber) || (executionNumber as number) < 1)
    throw new Error('the server sent no executionNumber')
  return {
    jobId,
    attempt: executionNumber as number,
    queuedAt: typeof queuedAt === 'number' ? queuedAt : undefined,
    begunBy: typeof begunBy === 'string' ? begunBy : undefined,
    // Over HTTP it is a string.
    document: typeof jobDocument === 'string' ? parseObject(jobDocument) : jobDocument,
    jobName: typeof jobName === 'string' ? jobName : undefined,
    jobSignature: execution.jobSignature,
    runId: execution.runId,
    ...(parameters && { parameters }),
    ...(secrets && { secrets }),
    ...(files && { files }),
    ...(isTraceParent(execution.traceparent) && { traceParent: execution.traceparent }),
    givenUpAt: typeof secondsLeft === 'number' ? receivedAt + secondsLeft * 1000 : undefined,
  }
}

/** Checked strictly, because it goes into the environment of programs. */
function isTraceParent(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(value)
}
