import {
  fileVariable,
  isParameterName,
  parameterVariable,
  secretVariable,
} from '@jobcast/contract/parameters'

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
  /** The parameters of the run, by name. */
  parameters?: Readonly<Record<string, unknown>> | undefined
  /** The secrets that the document uses, by name. */
  secrets?: Readonly<Record<string, unknown>> | undefined
  /** Paths of the files, by their names. */
  files?: Readonly<Record<string, string>> | undefined
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
    ...variablesOf(start.parameters ?? {}, parameterVariable),
    ...variablesOf(start.secrets ?? {}, secretVariable),
    ...Object.fromEntries(
      Object.entries(start.files ?? {}).map(([name, path]) => [fileVariable(name), path]),
    ),
    // Identifies leftover processes of this start after the agent was killed.
    JOBCAST_START_ID: start.startId,
  }
}

/** Strings as they are, everything else as JSON. Values that no variable can hold are left out. */
function variablesOf(
  values: Readonly<Record<string, unknown>>,
  variableOf: (name: string) => string,
): NodeJS.ProcessEnv {
  const named = Object.entries(values).filter(([name]) => isParameterName(name))
  const spelled = named.map(([name, value]) => {
    return [variableOf(name), typeof value === 'string' ? value : JSON.stringify(value)] as const
  })
  return Object.fromEntries(spelled.filter(([, text]) => text !== undefined && !text.includes('\0')))
}
