// jobcast-agent: the agent as a program of its own, for devices.

import { parseArgs } from 'node:util'
import packageJson from '../../package.json' with { type: 'json' }
import {
  type AgentFlags,
  agentFlags,
  type EnrollFlags,
  enrollFlags,
  type Flag,
  resolveFlags,
} from './flags.ts'
import { type ExitCode, exitCode, type ProcessIo } from './process-io.ts'
import { runAgent } from './run-agent.ts'
import { runEnroll } from './run-enroll.ts'

const { stdout, stderr, env } = process
// Built as CommonJS, which has no await here.
void main(process.argv.slice(2), { stdout, stderr, env, signals: process }).then((code) => process.exit(code))

async function main(argv: string[], io: ProcessIo): Promise<ExitCode> {
  const isEnroll = argv[0] === 'enroll'
  const flags = isEnroll ? enrollFlags : agentFlags
  let given: Record<string, unknown>
  try {
    given = parse(isEnroll ? argv.slice(1) : argv, flags)
  } catch (error) {
    io.stderr.write(`jobcast-agent: ${(error as Error).message}\n(run "jobcast-agent --help" for usage)\n`)
    return exitCode.usage
  }
  if (given.help || given.version) {
    io.stdout.write(given.help ? helpText() : `${packageJson.version}\n`)
    return exitCode.ok
  }
  return isEnroll
    ? runEnroll(io, resolveFlags<EnrollFlags>(flags, given, io.env))
    : runAgent(io, resolveFlags<AgentFlags>(flags, given, io.env))
}

function parse(args: string[], flags: readonly Flag[]): Record<string, unknown> {
  const older = flags.flatMap((flag) => (flag.older ? [{ ...flag, name: flag.older.name }] : []))
  const named = [...flags, ...older, { name: 'help' }, { name: 'version' }] as Flag[]
  const options = named.map(({ name, argument }) => [name, { type: argument ? 'string' : 'boolean' }])
  return parseArgs({ args, options: Object.fromEntries(options) }).values
}

function helpText(): string {
  return `Usage: jobcast-agent [flags]          run on a device: execute its jobs, one at a time
       jobcast-agent enroll [flags]   fetch the first token of this device with an enrollment token

Flags:
${linesOf(agentFlags)}
  JOBCAST_DEVICE_TOKEN   the device token itself, instead of --token-file

Flags of enroll:
${linesOf(enrollFlags)}
  JOBCAST_ENROLLMENT_TOKEN   the enrollment token itself, instead of --enrollment-token-file
`
}

function linesOf(flags: readonly Flag[]): string {
  return flags
    .map(({ name, argument, help, env: variable }) => {
      const flag = `--${name}${argument ? ` <${argument}>` : ''}`
      return `  ${flag.padEnd(32)} ${help}${variable ? ` (${variable})` : ''}\n`
    })
    .join('')
}
