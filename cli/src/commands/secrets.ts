// jobcast secrets: the key that encrypts secret parameters at rest.

import { newSecretsKey, readSecretsKeys, rotateSecrets } from '@jobcast/server'
import { Command } from 'commander'
import { storeCommand, withDatabase } from '../database/store-command.ts'
import { exitCode } from '../errors/exit-code.ts'
import { UsageError } from '../errors/usage-error.ts'
import { withIo } from '../io.ts'

export function secretsCommand(): Command {
  return new Command('secrets')
    .addCommand(newKeyCommand())
    .addCommand(rotateCommand())
    .addHelpText('after', '\nExample:\n  jobcast secrets rotate --data ./data\n')
}

function newKeyCommand(): Command {
  return new Command('new-key').description('Print a new key, for JOBCAST_SECRETS_KEY.').action(
    withIo(async ({ stdout }) => {
      stdout.write(`${newSecretsKey()}\n`)
      return exitCode.ok
    }),
  )
}

function rotateCommand(): Command {
  return storeCommand('rotate')
    .description('Encrypt all stored secrets with the first of the keys in JOBCAST_SECRETS_KEY.')
    .addHelpText(
      'after',
      '\nWithout JOBCAST_SECRETS_KEY, the key in the data folder is replaced by a new one. An embedded database must not be' +
        '\nin use: stop the service first. On PostgreSQL it can run, once every node knows the new key.\n',
    )
    .action(
      withDatabase(async ({ io, out, place }, _flags: { data?: string }) => {
        const problems: string[] = []
        const keys = readSecretsKeys(io.env, problems)
        if (problems[0] !== undefined) throw new UsageError(problems[0])
        const { total, changed } = await rotateSecrets(place, keys)
        out.say(`Encrypted ${changed} of ${total} with the new key.`)
        out.show({ total, changed }, () => '')
        return exitCode.ok
      }),
    )
}
