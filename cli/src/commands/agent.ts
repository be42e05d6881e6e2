// jobcast agent: runs on a device and carries out its executions.

import { Command, Option } from 'commander'
import type { AgentFlags } from '../device/run-agent.ts'
import { flagsWithEnv } from '../flags/flags-with-env.ts'
import { withIo } from '../io.ts'
import { enrollCommand } from './agent-enroll.ts'

export function agentCommand(): Command {
  return new Command('agent')
    .addOption(
      new Option('--server <url>', 'address of the service, for example https://jobs.example').env(
        'JOBCAST_SERVER',
      ),
    )
    .addOption(new Option('--device <deviceId>', 'deviceId of this device').env('JOBCAST_DEVICE'))
    .addOption(
      new Option(
        '--token-file <file>',
        'file with the device token; must not be readable by others (mode 0600)',
      ).env('JOBCAST_TOKEN_FILE'),
    )
    .addOption(
      new Option('--handlers <folder>', 'folder of executables that jobs can name as their handler').env(
        'JOBCAST_HANDLERS',
      ),
    )
    .option('--allow-commands', 'run any command that a job document names, not only handlers')
    .addOption(
      new Option('--state <folder>', 'folder in which the agent records what it has started').env(
        'JOBCAST_STATE',
      ),
    )
    .addOption(
      new Option(
        '--attributes-file <file>',
        'JSON object of attributes to report, read again whenever it changes and after each handler',
      ).env('JOBCAST_ATTRIBUTES_FILE'),
    )
    .addOption(
      new Option('--mqtt <url>', 'connect to this MQTT address instead, for example mqtts://host:8883').env(
        'JOBCAST_MQTT',
      ),
    )
    .option('--http', 'use HTTP long polling, for networks that block MQTT and WebSockets')
    .option(
      '--max-output-bytes <number>',
      'maximum output sent per attempt; should match the server (default 10 MiB)',
    )
    .addHelpText('after', '\n  JOBCAST_DEVICE_TOKEN   the device token itself, instead of --token-file\n')
    .action(
      withIo(async (io, _flags: AgentFlags, command: Command) => {
        // Loaded here, so that other commands do not load the agent.
        const { runAgent } = await import('../device/run-agent.ts')
        return runAgent(io, flagsWithEnv<AgentFlags>(command, io.env))
      }),
    )
    .addCommand(enrollCommand())
}
