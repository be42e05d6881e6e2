// jobcast agent: runs on a device and carries out its executions. Devices usually run `jobcast-agent` instead.

import { type AgentFlags, agentFlags, resolveFlags } from '@jobcast/agent/flags'
import { Command } from 'commander'
import { agentOptions } from '../flags/agent-options.ts'
import { givenFlags } from '../flags/given-flags.ts'
import { withIo } from '../io.ts'
import { enrollCommand } from './agent-enroll.ts'

export function agentCommand(): Command {
  const command = new Command('agent')
  for (const option of agentOptions(agentFlags)) command.addOption(option)
  return command
    .addHelpText('after', '\n  JOBCAST_DEVICE_TOKEN   the device token itself, instead of --token-file\n')
    .action(
      withIo(async (io, _flags: object, command: Command) => {
        // Loaded here, so that other commands do not load the agent.
        const { runAgent } = await import('@jobcast/agent')
        return runAgent(io, resolveFlags<AgentFlags>(agentFlags, givenFlags(command), io.env))
      }),
    )
    .addCommand(enrollCommand())
}
