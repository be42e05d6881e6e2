// What takes something away for good: it asks first.

import type { Jobcast } from '@jobcast/client'
import type { Command } from 'commander'
import { exitCode } from '../errors/exit-code.ts'
import { confirm } from '../input/ask.ts'
import { ownerCommand, withClient } from './owner-command.ts'

type Removal = {
  /** `rm`, or a better word for it. */
  name?: string
  /** What is named on the command line: `deviceId`. */
  argument: string
  /** `Delete`, and `Deleted` when it is done. */
  verb?: [asked: string, done: string]
  /** `device` */
  word: string
  /** What else goes with it. */
  consequence?: string
  remove: (client: Jobcast, name: string) => Promise<void>
}

export function removeCommand(removal: Removal): Command {
  const { name = 'rm', argument, verb = ['Delete', 'Deleted'], word, consequence, remove } = removal
  const [asked, done] = verb
  return ownerCommand(name)
    .argument(`<${argument}...>`)
    .option('-y, --yes', 'without a question')
    .action(
      withClient(async ({ client, out, io }, names: string[], flags: { yes?: boolean }) => {
        const what = `${word} ${names.join(', ')}`
        const more = consequence === undefined ? '' : ` ${consequence}`
        if (!(await confirm(io, `${asked} ${what}?${more}`, flags))) {
          out.say('Nothing was done.')
          return exitCode.interrupted
        }
        for (const each of names) {
          await remove(client, each)
          out.say(`${done} ${word} ${each}.`)
        }
        if (out.json) out.show({ [verb[1].toLowerCase()]: names }, () => '')
        return exitCode.ok
      }),
    )
}
