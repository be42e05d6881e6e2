// Turns a job's document into steps, or into a refusal. Pure: the caller checks whether the handlers exist on this
// device.
//
// This folder reads documents. Read next: step.ts, the result; aws-document.ts, the schema of AWS;
// document-fields.ts, how fields are refused.

import { detail } from '../execution/status-details.ts'
import { asObject } from '../transport/transport.ts'
import { awsSteps } from './aws-document.ts'
import { Refused, texts } from './document-fields.ts'
import type { DeviceRules, Step } from './step.ts'

export type Work = {
  /** Run in order, up to the first that fails. */
  steps: Step[]
  /** What to do if the agent or the machine stopped during the execution. */
  onInterrupt: 'report' | 'rerun'
  timeoutMs: number | undefined
}

type Plan = { kind: 'work'; work: Work } | { kind: 'refusal'; reason: string }

export function planWork(document: unknown, rules: DeviceRules): Plan {
  try {
    return { kind: 'work', work: workOf(document, rules) }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return { kind: 'refusal', reason: error.message }
  }
}

function workOf(document: unknown, rules: DeviceRules): Work {
  const fields = asObject(document)
  if (fields === undefined) throw new Refused('the document is not a JSON object')
  const steps = stepsOf(fields, rules)
  for (const step of steps) checkStep(step, rules)
  return { steps, onInterrupt: onInterruptOf(fields), timeoutMs: timeoutMsOf(fields) }
}

function stepsOf(document: Record<string, unknown>, rules: DeviceRules): Step[] {
  const { handler, command, steps, version } = document
  const forms = [handler, command, steps].filter((form) => form !== undefined)
  if (forms.length > 1) throw new Refused('the document names more than one of handler, command and steps')
  if (steps !== undefined || version !== undefined) return awsSteps(document, rules)
  if (handler !== undefined) {
    if (typeof handler !== 'string') throw new Refused('handler is not a string')
    return [plainStep('handler', handler, texts(document.args ?? [], 'args'))]
  }
  if (command !== undefined) {
    const [program = '', ...args] = texts(command, 'command')
    return [plainStep('command', program, args)]
  }
  throw new Refused('the document names neither a handler nor a command nor steps')
}

function plainStep(runs: Step['runs'], program: string, args: string[]): Step {
  return { name: detail(program), runs, program, args, allowStdErr: undefined, ignoreFailure: false }
}

/** A file name, not a path, and not a hidden file. */
const handlerName = /^[^./\p{Cc}\p{Cs}][^/\p{Cc}\p{Cs}]{0,127}$/u

function checkStep({ runs, program, args }: Step, { allowCommands }: DeviceRules): void {
  if (runs === 'command' && !allowCommands) {
    throw new Refused('commands are not allowed on this device (its agent runs without --allow-commands)')
  }
  if (program === '') throw new Refused(`the ${runs} has no name`)
  if (runs === 'handler' && !handlerName.test(program)) {
    throw new Refused('a handler must be a file name without folders that does not begin with a dot')
  }
  if ([program, ...args].some((text) => text.includes('\0'))) {
    throw new Refused('there is a NUL character in the command line')
  }
}

function onInterruptOf({ onInterrupt = 'report' }: Record<string, unknown>): Work['onInterrupt'] {
  if (onInterrupt === 'report' || onInterrupt === 'rerun') return onInterrupt
  throw new Refused('onInterrupt is neither "report" nor "rerun"')
}

const longestSeconds = 365 * 24 * 60 * 60

function timeoutMsOf({ timeoutSeconds }: Record<string, unknown>): number | undefined {
  if (timeoutSeconds === undefined) return undefined
  if (typeof timeoutSeconds === 'number' && timeoutSeconds > 0 && timeoutSeconds <= longestSeconds) {
    return timeoutSeconds * 1000
  }
  throw new Refused('timeoutSeconds is not a number of seconds above 0, up to a year')
}
