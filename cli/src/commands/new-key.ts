// jobcast new-key: a well-formed API key for JOBCAST_ADMIN_KEY.

import { newSecretText } from '@jobcast/server'
import { Command } from 'commander'
import { exitCode } from '../errors/exit-code.ts'
import { withIo } from '../io.ts'

export function newKeyCommand(): Command {
  return new Command('new-key').action(
    withIo(async ({ stdout }) => {
      stdout.write(`${newSecretText('jc').text}\n`)
      return exitCode.ok
    }),
  )
}
