// One step of an execution, and what the device allows.

export type Step = {
  /** For reports, and for JOBCAST_STEP. */
  name: string
  /** A file in the handlers folder, or a program found on the PATH. */
  runs: 'handler' | 'command'
  program: string
  args: string[]
  /** More lines on stderr than this are a failure; undefined means no limit. */
  allowStdErr: number | undefined
  ignoreFailure: boolean
}

export type DeviceRules = {
  allowCommands: boolean
  /** The user that the agent runs as. */
  userName: string
  handlersFolder: string
}
