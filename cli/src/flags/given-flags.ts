import type { Command } from 'commander'

/** The flags on the command line. A parent command may have flags of the same names, and then gets their values. */
export function givenFlags(command: Command): Record<string, unknown> {
  const above = command.parent === null ? {} : givenFlags(command.parent)
  const own = Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === 'cli')
  return { ...above, ...Object.fromEntries(own) }
}
