export type Given = {
  deviceId: string
  jobId: string
  attempt: number
  start: number
  startId: string
  isResumed: boolean
  resultFile: string
  step: string
}

/** The agent's own settings, the token among them, are not for handlers. */
export function handlerEnvironment(base: NodeJS.ProcessEnv, given: Given): NodeJS.ProcessEnv {
  const foreign = Object.entries(base).filter(([name]) => !name.startsWith('JOBCAST_'))
  return {
    ...Object.fromEntries(foreign),
    JOBCAST_DEVICE_ID: given.deviceId,
    JOBCAST_JOB_ID: given.jobId,
    JOBCAST_ATTEMPT: String(given.attempt),
    JOBCAST_START: String(given.start),
    JOBCAST_STEP: given.step,
    JOBCAST_RESULT_FILE: given.resultFile,
    ...(given.isResumed && { JOBCAST_RESUMED: '1' }),
    // By this, what is left of a start is known again after the agent was killed.
    JOBCAST_START_ID: given.startId,
  }
}
