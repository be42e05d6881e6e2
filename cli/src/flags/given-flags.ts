import type { Command } from 'commander'

/** The flags that were on the command line. A command above may have flags of the same names, and takes them for itself. */
export function givenFlags(command: Command): Record<string, unknown> {
  const above = command.parent === null ? {} : givenFlags(command.parent)
  const own = Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === 'cli')
  return { ...above, ...Object.fromEntries(own) }
}
