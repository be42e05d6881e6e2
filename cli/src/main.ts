// jobcast: one program, its commands one file each.

import { Command } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { type CommandEntry, commands } from './commands.ts'

const program = new Command('jobcast')
  .description('Trigger a named job on one device or a whole fleet with one HTTP call.')
  .version(packageJson.version)
  .configureHelp({ helpWidth: 110 })
  .showHelpAfterError('(jobcast <command> --help tells what a command takes)')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .addHelpCommand(
    new Command('help').argument('[command]').description('Tell what a command takes.').helpGroup('More:'),
  )

// The program itself takes no flags with values, so the first word that is none is the command.
const [first, second] = process.argv.slice(2).filter((word) => !word.startsWith('-'))
const asked = first === 'help' ? second : first

for (const entry of commands) adopt(program, await commandOf(entry))
await program.parseAsync()

/** Those that are not asked for are a name and a line in the list. */
async function commandOf({ name, group, does, load }: CommandEntry): Promise<Command> {
  // What completes commands has to know all of them.
  const isWanted = name === asked || asked === 'completion'
  const command = isWanted ? await load() : new Command(name)
  return command.description(does).helpGroup(group)
}

function adopt(parent: Command, command: Command): void {
  inherit(parent, command)
  parent.addCommand(command)
}

/** Commander hands settings down only to what it makes itself. */
function inherit(parent: Command, command: Command): void {
  command.copyInheritedSettings(parent)
  for (const child of command.commands) inherit(command, child)
}
