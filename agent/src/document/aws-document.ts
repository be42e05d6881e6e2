// AWS's schema for job documents (version 1.0), as used by its device client and job templates.

import { resolve } from 'node:path'
import { detail } from '../execution/status-details.ts'
import { asObject } from '../transport/transport.ts'
import { flag, optionalCount, optionalText, Refused, texts } from './document-fields.ts'
import type { DeviceRules, Step } from './step.ts'

type Fields = Record<string, unknown>

/** The final step runs if all steps before it succeeded, so it is simply the last one. */
export function awsSteps({ version, steps, finalStep, conditions }: Fields, rules: DeviceRules): Step[] {
  if (version !== '1.0') throw new Refused('version is not "1.0", the only one this agent supports')
  if (Array.isArray(conditions) ? conditions.length > 0 : conditions !== undefined) {
    throw new Refused('this agent does not support conditions')
  }
  if (!Array.isArray(steps) || steps.length === 0) throw new Refused('steps is not a list of steps')
  const all = finalStep === undefined ? steps : [...steps, finalStep]
  return all.map((step: unknown, index) => stepOf(asObject(asObject(step)?.action), index, rules))
}

function stepOf(action: Fields | undefined, index: number, rules: DeviceRules): Step {
  const where = `step ${index + 1}`
  const input = asObject(action?.input)
  if (action === undefined || input === undefined) throw new Refused(`${where} has no action with an input`)
  const runAsUser = optionalText(action.runAsUser, `runAsUser of ${where}`)
  if (runAsUser && runAsUser !== rules.userName) {
    throw new Refused(`${where} must run as ${runAsUser}, but this agent runs as ${rules.userName}`)
  }
  return {
    name: detail(optionalText(action.name, `the name of ${where}`) || where),
    ...programOf(action.type, input, where, rules),
    allowStdErr: optionalCount(action.allowStdErr, `allowStdErr of ${where}`),
    ignoreFailure: flag(action.ignoreStepFailure, `ignoreStepFailure of ${where}`),
  }
}

function programOf(
  type: unknown,
  { handler, args = [], path, command }: Fields,
  where: string,
  { handlersFolder }: DeviceRules,
): Pick<Step, 'runs' | 'program' | 'args'> {
  switch (type) {
    case 'runHandler': {
      const folder = optionalText(path, `path of ${where}`)
      if (folder && folder !== 'default' && resolve(folder) !== resolve(handlersFolder)) {
        throw new Refused(`${where} names the folder ${folder}; this agent uses only its own handlers folder`)
      }
      if (typeof handler !== 'string') throw new Refused(`${where} names no handler`)
      return { runs: 'handler', program: handler, args: texts(args, `args of ${where}`) }
    }
    case 'runCommand': {
      const words = typeof command === 'string' ? splitCommas(command) : texts(command, `command of ${where}`)
      const [program = '', ...more] = words
      return { runs: 'command', program, args: more }
    }
    default:
      throw new Refused(`the type of ${where} is neither runHandler nor runCommand`)
  }
}

/** "apt-get,install,a\,b" is three words; a backslash escapes a comma. */
function splitCommas(command: string): string[] {
  return command.split(/(?<!\\),/).map((word) => word.replaceAll('\\,', ',').trim())
}
