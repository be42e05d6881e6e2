// Walks the commands: what can be typed at each position of a command line.

import type { Command, Option } from 'commander'
import { defaultCommandOf } from '../define/group-command.ts'
import { argumentKind, flagKind, type NameKind } from './name-kind.ts'

export type Flag = {
  /** `-f` and `--file`. */
  forms: string[]
  description: string
  takesValue: boolean
  /** Allowed values; empty if any value is allowed. */
  choices: readonly string[]
  /** Its value is a file or folder. */
  isFile: boolean
  /** Its value is a name of this kind. */
  names?: NameKind | undefined
}

export type Position = {
  /** The commands so far, each after a space: '' or ' runs ls'. */
  path: string
  commands: { name: string; description: string }[]
  /** Allowed values of the first argument. */
  words: readonly string[]
  /** The first argument is a name of this kind. */
  names?: NameKind | undefined
  flags: Flag[]
}

export function positionsOf(command: Command, path = '', parent?: Command): Position[] {
  const help = command.createHelp()
  const children = help.visibleCommands(command)
  const position = {
    path,
    commands: children.map((child) => ({
      name: child.name(),
      description: firstSentence(child.description()),
    })),
    words: wordsOf(command, parent),
    names: argumentKind(command),
    flags: flagsOf(command),
  }
  return [position, ...children.flatMap((child) => positionsOf(child, `${path} ${child.name()}`, command))]
}

/** `jobcast help` takes the name of a command. */
function wordsOf(command: Command, parent: Command | undefined): readonly string[] {
  if (command.name() !== 'help') return command.registeredArguments[0]?.argChoices ?? []
  return parent?.commands.map((each) => each.name()) ?? []
}

/** Includes the flags of the default command: `jobcast runs --limit 5` means `jobcast runs ls --limit 5`. */
function flagsOf(command: Command): Flag[] {
  const commands = [command, defaultCommandOf(command)].filter((each) => each !== undefined)
  const flags = commands.flatMap((each) =>
    each
      .createHelp()
      .visibleOptions(each)
      .map((option) => flagOf(each, option)),
  )
  return [...new Map(flags.map((flag) => [flag.forms.join(), flag])).values()]
}

function flagOf(command: Command, option: Option): Flag {
  const { short, long, description, required, optional, argChoices = [] } = option
  return {
    forms: [short, long].filter((form) => form !== undefined),
    description: firstSentence(description),
    takesValue: required || optional,
    choices: argChoices,
    isFile: /<(?:file|folder|path)>/.test(option.flags),
    names: flagKind(command, long),
  }
}

/** Completion lists have room for one sentence. */
function firstSentence(text: string): string {
  return text.split(/(?<=\.) |\n/)[0] ?? ''
}
