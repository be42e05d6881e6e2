// run(): the command line as a function. Arguments and streams in, exit code out.

import { Command, CommanderError } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { type CommandEntry, commands } from './command-list.ts'
import { type ExitCode, exitCode } from './errors/exit-code.ts'
import { bindInvocation, type Io } from './io.ts'

/** `argv` without the program: ['runs', 'ls']. */
export async function run(argv: readonly string[], io: Io): Promise<ExitCode> {
  const program = buildProgram(io)
  const invocation = bindInvocation(program, io)
  const asked = commandIn(argv)
  for (const entry of commands) adopt(program, await commandOf(entry, asked))
  try {
    await program.parseAsync(argv, { from: 'user' })
    return invocation.exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? exitCode.ok : exitCode.usage
  }
}

function buildProgram({ stdout, stderr }: Io): Command {
  return new Command('jobcast')
    .description('Trigger a named job on one device or a whole fleet with one HTTP call.')
    .version(packageJson.version)
    .configureHelp({ helpWidth: 110 })
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
    })
    .showHelpAfterError('(jobcast <command> --help tells what a command takes)')
    .exitOverride()
    .addHelpCommand(
      new Command('help').argument('[command]').description('Tell what a command takes.').helpGroup('More:'),
    )
}

/** The program itself takes no flags with values, so the first word that is none is the command. */
function commandIn(argv: readonly string[]): string | undefined {
  const [first, second] = argv.filter((word) => !word.startsWith('-'))
  return first === 'help' ? second : first
}

/** Those that are not asked for are a name and a line in the list. */
async function commandOf({ name, group, does, load }: CommandEntry, asked?: string): Promise<Command> {
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
