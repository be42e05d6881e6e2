// jobcast sim: simulated devices that connect to a server over real connections.

import { Command, Option } from 'commander'
import type { SimFlags } from '../device/sim-options.ts'
import { flagsWithEnv } from '../flags/flags-with-env.ts'
import { withIo } from '../io.ts'

export function simCommand(): Command {
  return new Command('sim')
    .addOption(
      new Option('--server <url>', 'address of the service, for example http://host:8080').env('JOBCAST_URL'),
    )
    .addOption(
      new Option('--api-key <key>', 'API key with the scopes MANAGE and READ').env('JOBCAST_API_KEY'),
    )
    .addOption(
      new Option(
        '--mqtt <url>',
        'MQTT address of the service (default: the host of --server, port 1883)',
      ).env('JOBCAST_MQTT'),
    )
    .addOption(
      new Option(
        '--broker <url>',
        'connect to your own MQTT broker, to which the service has a bridge, instead of --mqtt',
      ).env('JOBCAST_BROKER'),
    )
    .addOption(
      new Option(
        '--broker-prefix <topic>',
        'what topics on the broker start with, as bridge-prefix of the service (default: $aws/things)',
      ).env('JOBCAST_BROKER_PREFIX'),
    )
    .option(
      '--broker-password-file <file>',
      'file with the password of the devices on the broker (default: no sign-in)',
    )
    .option('--broker-user <name>', 'user name of all devices on the broker (default: the deviceId of each)')
    .addOption(
      new Option('--protocol <name>', 'protocol of the devices: mqtt, or ddi to poll as hawkBit devices do')
        .choices(['mqtt', 'ddi'])
        .default('mqtt'),
    )
    .option('--tenant <ownerName>', 'owner of the devices, with --protocol ddi', 'default')
    .option('--devices <number>', 'number of devices', '100')
    .option('--prefix <text>', 'prefix of the deviceIds; a number follows', 'sim-')
    .option('--work-seconds <range>', 'how long each execution takes', '1-5')
    .option('--failure-rate <share>', 'share of executions that end as FAILED, from 0 to 1', '0.05')
    .option('--reject-rate <share>', 'share of executions that end as REJECTED, from 0 to 1', '0')
    .option('--offline-rate <share>', 'share of the time that a device is offline, from 0 to 1', '0')
    .option('--offline-seconds <range>', 'how long a device is offline each time', '30-120')
    .option('--output-lines <number>', 'lines of output per execution', '3')
    .option('--seed <number>', 'random seed; the same seed repeats the same behavior')
    .option('--quiet', 'do not print a status line every 15 s')
    .action(
      withIo(async (io, _flags: SimFlags, command: Command) => {
        // Loaded here, so that other commands do not load the simulation.
        const { runSim } = await import('../device/run-sim.ts')
        return runSim(io, flagsWithEnv<SimFlags>(command, io.env))
      }),
    )
}
