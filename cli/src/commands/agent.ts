// jobcast agent: runs on a device and carries its executions out.

import { Command, Option } from 'commander'
import type { AgentFlags } from '../device/run-agent.ts'
import { flagsWithEnv } from '../flags/flags-with-env.ts'
import { withIo } from '../io.ts'
import { enrollCommand } from './enroll.ts'

export function agentCommand(): Command {
  return new Command('agent')
    .addOption(
      new Option('--server <url>', 'the service, for example https://jobs.example').env('JOBCAST_SERVER'),
    )
    .addOption(new Option('--device <deviceId>', 'who this device is').env('JOBCAST_DEVICE'))
    .addOption(
      new Option(
        '--token-file <file>',
        "holds the device's token; only its owner may read it (mode 0600)",
      ).env('JOBCAST_TOKEN_FILE'),
    )
    .addOption(
      new Option('--handlers <folder>', 'executables that jobs may name as their handler').env(
        'JOBCAST_HANDLERS',
      ),
    )
    .option('--allow-commands', 'carry out any command that a document names, not only handlers')
    .addOption(
      new Option('--state <folder>', 'where the agent remembers what it has begun').env('JOBCAST_STATE'),
    )
    .addOption(
      new Option('--mqtt <url>', 'connect here instead, for example mqtts://host:8883').env('JOBCAST_MQTT'),
    )
    .option('--http', 'ask by HTTP (long poll), where neither MQTT nor a WebSocket passes')
    .option(
      '--max-output-bytes <number>',
      'output kept of one attempt; as much as the server keeps (default 10 MiB)',
    )
    .addHelpText('after', '\n  JOBCAST_DEVICE_TOKEN   the token itself, instead of a file\n')
    .action(
      withIo(async (io, _flags: AgentFlags, command: Command) => {
        // Only here: a server need not load an agent to start.
        const { runAgent } = await import('../device/run-agent.ts')
        return runAgent(io, flagsWithEnv<AgentFlags>(command, io.env))
      }),
    )
    .addCommand(enrollCommand())
}
