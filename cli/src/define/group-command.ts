// A command that is a word in front of others: jobcast runs ls, jobcast runs get.

import { Command } from 'commander'

/** The first of them is meant where none is named. */
export function groupCommand(name: string, first: Command, ...others: Command[]): Command {
  const group = new Command(name).configureHelp({ helpWidth: 110 })
  group.addCommand(first, { isDefault: true })
  for (const command of others) group.addCommand(command)
  // Commander would hand a word it does not know to the first command, which then has one too many.
  return group.hook('preSubcommand', () => {
    const [word = '-'] = group.args
    const known = group.commands.flatMap((command) => [command.name(), ...command.aliases()])
    if (!word.startsWith('-') && !known.includes(word))
      group.error(`error: unknown command '${word}'; ${name} has ${known.join(', ')}`)
  })
}
