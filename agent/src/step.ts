// One step of the work on an execution, and what a device allows.

export type Step = {
  /** For people, and for JOBCAST_STEP. */
  name: string
  /** A file in the folder of handlers, or a program as a command line names it. */
  runs: 'handler' | 'command'
  program: string
  args: string[]
  /** So many lines on stderr are fine; undefined: stderr is not judged. */
  allowStdErr: number | undefined
  ignoreFailure: boolean
}

export type DeviceRules = {
  allowCommands: boolean
  /** Who the agent runs as. */
  userName: string
  handlersFolder: string
}
