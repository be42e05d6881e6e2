// jobcast secrets: write-only values for devices, and the key that encrypts them at rest.

import { whoInWords } from '@jobcast/contract/words'
import { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { plainCommand, withClient } from '../define/owner-command.ts'
import { resourceCommands } from '../define/resource-commands.ts'
import { UsageError } from '../errors/usage-error.ts'
import { dataOption } from '../flags/data-option.ts'
import { ask, canAsk } from '../input/ask.ts'
import { readText } from '../input/read-content.ts'
import type { Io } from '../io.ts'
import { localTime } from '../output/local-time.ts'
import { whoWithId } from '../output/maker-text.ts'

const secrets = resourceCommands('secrets')

export function secretsCommand(): Command {
  return groupCommand(
    'secrets',
    secrets.ls([
      { title: 'SECRET', of: ({ secretName }) => secretName },
      { title: 'UPDATED', of: ({ updatedAt }) => localTime(updatedAt) },
      { title: 'BY', of: ({ updatedBy, updatedByName }) => whoInWords(updatedBy, updatedByName) },
      { title: 'USED BY', of: ({ usedBy }) => usedBy.join(' ') || null },
    ]),
    getCommand(),
    putCommand(),
    secrets.rm('A secret that a job, a schedule or an unfinished run uses is not deleted.'),
    newKeyCommand(),
    rotateCommand(),
  ).addHelpText(
    'after',
    '\nExamples:\n  jobcast secrets put TOKEN < token.txt\n  jobcast secrets rotate --data ./data\n',
  )
}

function getCommand(): Command {
  const show = secrets.get(({ secretName, updatedAt, updatedBy, updatedByName, usedBy }) => ({
    fields: {
      secret: secretName,
      updated: localTime(updatedAt),
      by: whoWithId(updatedBy, updatedByName),
      'used by': usedBy.join(', ') || null,
    },
  }))
  return show.description('Show when a secret was set, by whom, and what uses it; never its value.')
}

function putCommand(): Command {
  return secrets
    .put()
    .description('Create a secret, or replace its value, which is read from standard input or from a file.')
    .option('-f, --file <path>', 'file with the value; - is standard input (default)')
    .addHelpText(
      'after',
      '\nOne line break at the end is not part of the value. A value is never an argument: everybody on a machine can read' +
        '\ncommand lines.\n',
    )
    .action(
      withClient(async (context, secretName: string, { file }: { file?: string }) => {
        await secrets.save(context, secretName, { value: await readValue(context.io, secretName, file) })
      }),
    )
}

async function readValue(io: Io, secretName: string, file = '-'): Promise<string> {
  const asked =
    file === '-' && canAsk(io)
      ? await ask(io, `Value of ${secretName}: `, { hidden: true })
      : (await readText(io, file)).replace(/\r?\n$/, '')
  if (!asked) throw new UsageError('the value is empty')
  return asked
}

function newKeyCommand(): Command {
  return new Command('new-key')
    .description('Print a new key, for JOBCAST_SECRETS_KEY.')
    .action(async (...args: unknown[]) => (await import('./secrets-key.ts')).printKey(...args))
}

function rotateCommand(): Command {
  return plainCommand('rotate')
    .addOption(dataOption())
    .description('Encrypt all stored secrets with the first of the keys in JOBCAST_SECRETS_KEY.')
    .addHelpText(
      'after',
      '\nWithout JOBCAST_SECRETS_KEY, the key in the data folder is replaced by a new one. An embedded database must not be' +
        '\nin use: stop the service first. On PostgreSQL it can run, once every node knows the new key.\n',
    )
    .action(async (...args: unknown[]) => (await import('./secrets-key.ts')).rotate(...args))
}
