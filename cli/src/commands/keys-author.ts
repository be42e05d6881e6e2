// jobcast keys author: the keys with which authors sign jobs. They are files, and the service never sees the private one.

import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { plainCommand, withOut } from '../define/owner-command.ts'
import { readKeyIds, writeAuthorKey } from '../sign/author-key-file.ts'

export function authorCommand(): Command {
  return groupCommand('author', showCommand(), newCommand())
    .description('Create and show the keys with which authors sign jobs.')
    .addHelpText('after', '\nExample:\n  jobcast keys author new --out author.pem\n')
}

function newCommand(): Command {
  return plainCommand('new')
    .description('Create a key to sign jobs with: a private key and a public key, in two new files.')
    .option('--out <file>', 'file of the private key, which only you can read', 'author.pem')
    .addHelpText(
      'after',
      '\nThe public key is written to <file> with .pub.pem at its end: put it on devices (jobcast-agent --trust).\n' +
        'The private key never leaves this machine; without it, no new version of a job can be signed.\n',
    )
    .action(
      withOut(async ({ out }, { out: file }: { out: string }) => {
        const created = writeAuthorKey(file)
        out.say(
          `Created a key. Keep ${created.privateKey} secret; devices need ${created.publicKey}. Its id:`,
        )
        out.show(created, () => created.keyId)
      }),
    )
}

function showCommand(): Command {
  return plainCommand('show')
    .description('Show the ids of the keys in a PEM file (default).')
    .argument('<file>')
    .action(
      withOut(async ({ out }, file: string) => {
        const keyIds = readKeyIds(file)
        out.show({ keyIds }, () => keyIds.join('\n'))
      }),
    )
}
