// run(): the command line as a function. Arguments and streams in, exit code out.

import { neededNode } from '@jobcast/agent/needed-node'
import { Command, CommanderError } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { type CommandEntry, commands } from './command-list.ts'
import { type ExitCode, exitCode } from './errors/exit-code.ts'
import { usageText } from './errors/usage-text.ts'
import { bindInvocation, type Io } from './io.ts'

/** `argv` without the program: ['runs', 'ls']. */
export async function run(argv: readonly string[], io: Io): Promise<ExitCode> {
  const program = buildProgram(io)
  const invocation = bindInvocation(program, io)
  const [asked, subcommand] = wordsIn(argv)
  const needed = neededNodeOf(asked, subcommand)
  if (needed !== undefined && !argv.includes('--help')) {
    const named = needsOf(asked) === true ? asked : `${asked} ${subcommand}`
    io.stderr.write(`jobcast ${named} needs Node ${needed} or newer; this is ${process.version}.\n`)
    return exitCode.unexpected
  }
  for (const entry of commands) adopt(program, await commandOf(entry, asked), entry)
  try {
    await program.parseAsync(argv, { from: 'user' })
    return invocation.exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? exitCode.ok : exitCode.usage
  }
}

function buildProgram({ stdout, stderr }: Io): Command {
  return (
    new Command('jobcast')
      .description('Trigger a named job on one device or a whole fleet with one HTTP call.')
      .version(packageJson.version)
      // Lets a command have its own --version.
      .enablePositionalOptions()
      .configureHelp({ helpWidth: 110 })
      .configureOutput({
        writeOut: (text) => void stdout.write(text),
        writeErr: (text) => void stderr.write(text),
        outputError: (text, write) => write(usageText(text)),
      })
      .showHelpAfterError(helpHint('<command>'))
      .exitOverride()
      .addHelpCommand(
        new Command('help').argument('[command]').description('Show help for a command.').helpGroup('More:'),
      )
  )
}

/** Undefined if this version of Node is sufficient. */
function neededNodeOf(asked: string | undefined, subcommand: string | undefined): string | undefined {
  const needs = needsOf(asked)
  const opensDatabase = typeof needs === 'object' ? needs.includes(subcommand ?? '') : needs
  return opensDatabase ? neededNode('sqlite') : undefined
}

function needsOf(asked: string | undefined): CommandEntry['needsServerNode'] {
  return commands.find(({ name }) => name === asked)?.needsServerNode
}

/** The program itself has no flags with values, so the first word that is not a flag is the command. */
function wordsIn(argv: readonly string[]): string[] {
  const words = argv.filter((word) => !word.startsWith('-'))
  return words[0] === 'help' ? words.slice(1) : words
}

/** Commands that are not called are listed only with name and description. */
async function commandOf({ name, group, description, load }: CommandEntry, asked?: string): Promise<Command> {
  // A completion script lists the flags of all commands.
  const isWanted = name === asked || asked === 'completion'
  const command = isWanted ? await load() : new Command(name)
  return command.description(description).helpGroup(group)
}

function adopt(parent: Command, command: Command, { isHidden }: CommandEntry): void {
  inherit(parent, command, command.name())
  parent.addCommand(command, { hidden: isHidden === true })
}

/** Commander passes settings only to commands that it has created itself. */
function inherit(parent: Command, command: Command, words: string): void {
  command.copyInheritedSettings(parent).showHelpAfterError(helpHint(words))
  for (const child of command.commands) inherit(command, child, `${words} ${child.name()}`)
}

const helpHint = (words: string) => `(run "jobcast ${words} --help" for usage)`
