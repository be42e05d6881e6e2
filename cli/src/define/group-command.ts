// A command with subcommands: jobcast runs ls, jobcast runs get.

import { Command } from 'commander'

const defaults = new WeakMap<Command, Command>()

/** The subcommand that a group runs by default; commander does not expose it. */
export function defaultCommandOf(group: Command): Command | undefined {
  return defaults.get(group)
}

/** The first one is the default. */
export function groupCommand(name: string, first: Command, ...others: Command[]): Command {
  const group = new Command(name).configureHelp({ helpWidth: 110 })
  group.addCommand(first, { isDefault: true })
  defaults.set(group, first)
  for (const command of others) group.addCommand(command)
  // Commander would pass an unknown subcommand to the default one as an argument.
  return group.hook('preSubcommand', () => {
    const [word = '-'] = group.args
    const names = group.commands.flatMap((command) => [command.name(), ...command.aliases()])
    if (!word.startsWith('-') && !names.includes(word))
      group.error(`error: unknown command '${word}'; the commands of ${name} are ${names.join(', ')}`)
  })
}
