// jobcast sim: a fleet of simulated devices on a server, over real connections.

import { Command, Option } from 'commander'
import type { SimFlags } from '../device/sim-options.ts'
import { flagsWithEnv } from '../flags/flags-with-env.ts'
import { withIo } from '../io.ts'

export function simCommand(): Command {
  return new Command('sim')
    .addOption(new Option('--server <url>', 'the service, http://host:8080').env('JOBCAST_URL'))
    .addOption(new Option('--api-key <key>', 'with the scopes MANAGE and READ').env('JOBCAST_API_KEY'))
    .addOption(
      new Option('--mqtt <url>', 'where devices connect (default: the host of --server, port 1883)').env(
        'JOBCAST_MQTT',
      ),
    )
    .option('--devices <number>', 'how many', '100')
    .option('--prefix <text>', 'of their deviceIds; a number follows', 'sim-')
    .option('--work-seconds <range>', 'how long each execution takes', '1-5')
    .option('--failure-rate <share>', 'of executions that end as FAILED, from 0 to 1', '0.05')
    .option('--reject-rate <share>', 'of executions that end as REJECTED', '0')
    .option('--offline-rate <share>', 'of its time that a device is offline', '0')
    .option('--offline-seconds <range>', 'how long it is offline each time', '30-120')
    .option('--output-lines <number>', 'lines of output of each execution', '3')
    .option('--seed <number>', 'with the same one each execution goes the same way again')
    .option('--quiet', 'no line every 15 s')
    .action(
      withIo(async (io, _flags: SimFlags, command: Command) => {
        // Only here: a server need not load a fleet to start.
        const { runSim } = await import('../device/run-sim.ts')
        return runSim(io, flagsWithEnv<SimFlags>(command, io.env))
      }),
    )
}
