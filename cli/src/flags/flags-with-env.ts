import type { Command } from 'commander'

/**
 * The flags of a command, with defaults from the environment variables that they name. Commander reads those as well, but
 * only from the environment of the process.
 */
export function flagsWithEnv<Flags extends object>(command: Command, env: NodeJS.ProcessEnv): Flags {
  const fromEnv = withAncestors(command).flatMap((each) =>
    each.options
      .filter(({ envVar }) => envVar !== undefined)
      .filter((option) => each.getOptionValueSource(option.attributeName()) !== 'cli')
      .map((option) => [option.attributeName(), env[option.envVar as string]]),
  )
  const given = withAncestors(command).flatMap((each) =>
    Object.entries(each.opts()).filter(([name]) => each.getOptionValueSource(name) === 'cli'),
  )
  return { ...command.opts(), ...Object.fromEntries(fromEnv), ...Object.fromEntries(given) } as Flags
}

/** A parent command may have flags of the same names, and then gets their values. */
function withAncestors(command: Command): Command[] {
  return command.parent === null ? [command] : [command, ...withAncestors(command.parent)]
}
