// jobcast agent enroll: fetches a device's first token with an enrollment token.

import { type EnrollFlags, enrollFlags, resolveFlags } from '@jobcast/agent/flags'
import { Command } from 'commander'
import { agentOptions } from '../flags/agent-options.ts'
import { givenFlags } from '../flags/given-flags.ts'
import { withIo } from '../io.ts'

export function enrollCommand(): Command {
  const command = new Command('enroll')
  for (const option of agentOptions(enrollFlags)) command.addOption(option)
  return command
    .description('Fetch the first token of this device with an enrollment token.')
    .addHelpText(
      'after',
      '\n  JOBCAST_ENROLLMENT_TOKEN   the enrollment token itself, instead of --enrollment-token-file\n',
    )
    .action(
      withIo(async (io, _flags: object, command: Command) => {
        const { runEnroll } = await import('@jobcast/agent')
        return runEnroll(io, resolveFlags<EnrollFlags>(enrollFlags, givenFlags(command), io.env))
      }),
    )
}
