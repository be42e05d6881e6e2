// The flags of the agent as options of commander: `jobcast-agent` parses the same list without a library.

import type { Flag } from '@jobcast/agent/flags'
import { Option } from 'commander'

export function agentOptions(flags: readonly Flag[]): Option[] {
  return flags.flatMap(({ name, argument, help, env, older }) => {
    const optionOf = (flag: string, variable: string | undefined) => {
      const option = new Option(argument ? `--${flag} <${argument}>` : `--${flag}`, help)
      return variable === undefined ? option : option.env(variable)
    }
    const before = older ? [optionOf(older.name, older.env).hideHelp()] : []
    return [optionOf(name, env), ...before]
  })
}
