// The program, walked: what can stand at each place of a command line.

import type { Command, Option } from 'commander'

export type Flag = {
  /** `-f` and `--file`. */
  names: string[]
  does: string
  takesValue: boolean
  /** What its value can be; empty where it can be much. */
  choices: readonly string[]
  /** Its value is the name of a file or a folder. */
  isFile: boolean
}

export type Spot = {
  /** The commands so far, a blank before each: '' or ' runs ls'. */
  path: string
  commands: { name: string; does: string }[]
  /** What its first argument can be. */
  words: readonly string[]
  flags: Flag[]
}

export function spotsOf(command: Command, path = ''): Spot[] {
  const help = command.createHelp()
  const children = help.visibleCommands(command)
  const spot = {
    path,
    commands: children.map((child) => ({ name: child.name(), does: firstSentence(child.description()) })),
    words: command.registeredArguments[0]?.argChoices ?? [],
    flags: help.visibleOptions(command).map(flagOf),
  }
  return [spot, ...children.flatMap((child) => spotsOf(child, `${path} ${child.name()}`))]
}

function flagOf(option: Option): Flag {
  const { short, long, description, required, optional, argChoices = [] } = option
  return {
    names: [short, long].filter((name) => name !== undefined),
    does: firstSentence(description),
    takesValue: required || optional,
    choices: argChoices,
    isFile: /<(?:file|folder|path)>/.test(option.flags),
  }
}

/** A list has room for one. */
function firstSentence(text: string): string {
  return text.split(/(?<=\.) |\n/)[0] ?? ''
}
