// jobcast: one program, its commands one file each.

import { Command } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { agentCommand } from './agent.ts'
import { devCommand } from './dev.ts'
import { newKeyCommand } from './new-key.ts'
import { serveCommand } from './serve.ts'
import { simCommand } from './sim.ts'

const program = new Command('jobcast')
  .description('Trigger a named job on one device or a whole fleet with one HTTP call.')
  .version(packageJson.version)
  .showHelpAfterError('(jobcast <command> --help tells what a command takes)')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))

for (const command of [devCommand(), serveCommand(), newKeyCommand(), agentCommand(), simCommand()]) {
  program.addCommand(command.copyInheritedSettings(program))
}

await program.parseAsync()
