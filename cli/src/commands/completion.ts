// jobcast completion: a shell script that completes commands and flags, generated from the commands themselves.

import { Argument, Command } from 'commander'
import { bashScript } from '../completion/bash-script.ts'
import { fishScript } from '../completion/fish-script.ts'
import { positionsOf } from '../completion/positions.ts'
import { zshScript } from '../completion/zsh-script.ts'
import { exitCode } from '../errors/exit-code.ts'
import { withIo } from '../io.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript }
type Shell = keyof typeof scripts

/** run() loads every command before this one runs. */
export function completionCommand(): Command {
  return new Command('completion')
    .addArgument(new Argument('<shell>', 'shell to generate the script for').choices(Object.keys(scripts)))
    .addHelpText(
      'after',
      `
Examples:
  source <(jobcast completion bash)                                    # in ~/.bashrc
  jobcast completion zsh > "\${fpath[1]}/_jobcast"                      # then start a new shell
  jobcast completion fish > ~/.config/fish/completions/jobcast.fish
`,
    )
    .action(
      withIo(async ({ stdout }, shell: Shell, _flags: object, command: Command) => {
        if (command.parent) stdout.write(scripts[shell](positionsOf(command.parent)))
        return exitCode.ok
      }),
    )
}
