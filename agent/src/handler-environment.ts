export type StartVariables = {
  deviceId: string
  jobId: string
  attempt: number
  start: number
  startId: string
  isResumed: boolean
  resultFile: string
  step: string
  traceParent?: string | undefined
}

/** Handlers must not see the agent's own settings, which include the token. */
export function handlerEnvironment(base: NodeJS.ProcessEnv, start: StartVariables): NodeJS.ProcessEnv {
  const inherited = Object.entries(base).filter(([name]) => !name.startsWith('JOBCAST_'))
  return {
    ...Object.fromEntries(inherited),
    JOBCAST_DEVICE_ID: start.deviceId,
    JOBCAST_JOB_ID: start.jobId,
    JOBCAST_ATTEMPT: String(start.attempt),
    JOBCAST_START: String(start.start),
    JOBCAST_STEP: start.step,
    JOBCAST_RESULT_FILE: start.resultFile,
    ...(start.isResumed && { JOBCAST_RESUMED: '1' }),
    ...(start.traceParent !== undefined && { TRACEPARENT: start.traceParent }),
    // Identifies leftover processes of this start after the agent was killed.
    JOBCAST_START_ID: start.startId,
  }
}
