// Commands that delete or revoke; they ask for confirmation first.

import type { Jobcast } from '@jobcast/client'
import type { Command } from 'commander'
import { exitCode } from '../errors/exit-code.ts'
import { confirm } from '../input/ask.ts'
import { ownerCommand, withClient } from './owner-command.ts'

type Removal = {
  /** `rm` by default. */
  name?: string
  /** The argument's name: `deviceId`. */
  argument: string
  /** For the question, and for the message afterwards: `Delete`, `Deleted`. */
  verb?: [asked: string, done: string]
  /** `device` */
  noun: string
  /** Shown with the question: what else changes. */
  consequence?: string
  /** `flags` are the ones that the caller adds to the command. */
  remove: (client: Jobcast, name: string, flags: object) => Promise<void>
}

export function removeCommand(removal: Removal): Command {
  const { name = 'rm', argument, verb = ['Delete', 'Deleted'], noun, consequence, remove } = removal
  const [asked, done] = verb
  return ownerCommand(name)
    .argument(`<${argument}...>`)
    .option('-y, --yes', 'do not ask for confirmation')
    .action(
      withClient(async ({ client, out, io }, names: string[], flags: { yes?: boolean }) => {
        const what = `${noun} ${names.join(', ')}`
        const more = consequence === undefined ? '' : ` ${consequence}`
        if (!(await confirm(io, `${asked} ${what}?${more}`, flags))) {
          out.say('Canceled; nothing was changed.')
          return exitCode.interrupted
        }
        for (const each of names) {
          await remove(client, each, flags)
          out.say(`${done} ${noun} ${each}.`)
        }
        if (out.json) out.show({ [verb[1].toLowerCase()]: names }, () => '')
        return exitCode.ok
      }),
    )
}
