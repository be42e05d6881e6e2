// Version and parameters of a run, as flags of a trigger or of a schedule.

import type { Jobcast, NewRun } from '@jobcast/client'
import { InvalidArgumentError, Option } from 'commander'
import { readContent } from '../input/read-content.ts'
import type { Io } from '../io.ts'
import { repeatable } from './target-devices.ts'
import { wholeNumber } from './whole-number.ts'

export type ParameterFlags = {
  version?: number
  param?: { name: string; text: string }[]
  paramsFile?: string
  skipMissing?: boolean
}

export function parameterOptions(): Option[] {
  return [
    ...valueOptions(),
    new Option('--skip-missing', 'skip devices that lack an attribute that the document needs'),
  ]
}

/** The options that a schedule has as well. */
export function valueOptions(): Option[] {
  return [
    new Option('--version <number>', 'version of the job (default: the current one)').argParser(
      wholeNumber(1),
    ),
    repeatable(
      '-p, --param <name=value>',
      'value of a parameter; a number, true, false or a list is written as JSON. Can be repeated',
      nameAndText,
    ),
    new Option('--params-file <file>', 'YAML or JSON file with parameters, for secrets; - is standard input'),
  ]
}

/** Empty if no flag is given. `typeOf` returns the declared type of a parameter, by which its value is parsed. */
export async function parametersOf(
  io: Io,
  { version, param = [], paramsFile, skipMissing }: ParameterFlags,
  typeOf: (name: string) => Promise<unknown>,
): Promise<Pick<NewRun, 'version' | 'parameters' | 'onMissing'>> {
  const values: Record<string, unknown> = paramsFile === undefined ? {} : await readContent(io, paramsFile)
  for (const { name, text } of param) values[name] = (await typeOf(name)) === 'string' ? text : parsed(text)
  return {
    ...(version !== undefined && { version }),
    ...((paramsFile !== undefined || param.length > 0) && { parameters: values }),
    ...(skipMissing && { onMissing: 'SKIP' as const }),
  }
}

type Properties = Record<string, { type?: unknown }>

/** Returns the declared types of the job's parameters. Its schema is read once, and only when needed. */
export function declaredTypes(client: Jobcast, jobName: string, version: number | undefined) {
  let properties: Promise<Properties> | undefined
  const read = async () => {
    const job = version === undefined ? client.jobs.get(jobName) : client.jobs.version(jobName, version)
    return ((await job).parameters?.properties ?? {}) as Properties
  }
  return async (name: string): Promise<unknown> => {
    properties ??= read()
    // A key that can only trigger must not read the schema: then the type is inferred from the value.
    return (await properties.catch((): Properties => ({})))[name]?.type
  }
}

function nameAndText(value: string): { name: string; text: string } {
  const at = value.indexOf('=')
  if (at <= 0) throw new InvalidArgumentError('Use the form name=value.')
  return { name: value.slice(0, at), text: value.slice(at + 1) }
}

/** Anything but JSON is a string. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
