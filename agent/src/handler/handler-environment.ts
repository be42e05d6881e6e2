import { isParameterName, parameterVariable } from '@jobcast/contract/parameters'

type StartVariables = {
  deviceId: string
  jobId: string
  attempt: number
  start: number
  startId: string
  isResumed: boolean
  resultFile: string
  step: string
  traceParent?: string | undefined
  /** Of the run, by name. */
  parameters?: Readonly<Record<string, unknown>> | undefined
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
    ...parameterVariables(start.parameters ?? {}),
    // Identifies leftover processes of this start after the agent was killed.
    JOBCAST_START_ID: start.startId,
  }
}

/** Texts as they are, everything else as JSON. What no variable can hold is left out. */
function parameterVariables(parameters: Readonly<Record<string, unknown>>): NodeJS.ProcessEnv {
  const named = Object.entries(parameters).filter(([name]) => isParameterName(name))
  const spelled = named.map(([name, value]) => {
    return [parameterVariable(name), typeof value === 'string' ? value : JSON.stringify(value)] as const
  })
  return Object.fromEntries(spelled.filter(([, text]) => text !== undefined && !text.includes('\0')))
}
