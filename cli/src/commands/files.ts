// jobcast files: content that devices fetch, with versions and hashes.

import { createHash } from 'node:crypto'
import { createReadStream, openAsBlob } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import type { FileVersion } from '@jobcast/client'
import { systemReason, whoInWords } from '@jobcast/contract/words'
import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { type OwnerContext, ownerCommand, withClient } from '../define/owner-command.ts'
import { exitCode } from '../errors/exit-code.ts'
import { UsageError } from '../errors/usage-error.ts'
import { confirm } from '../input/ask.ts'
import { localTime } from '../output/local-time.ts'
import type { Column } from '../output/print-table.ts'
import { withTaskBar } from '../output/task-bar.ts'

type PutFlags = { resume: boolean }

const columns: readonly Column<FileVersion>[] = [
  { title: 'FILE', of: ({ fileName }) => fileName },
  { title: 'VERSION', of: ({ version }) => version },
  { title: 'SIZE', of: ({ size }) => String(size) },
  { title: 'SHA256', of: ({ sha256 }) => sha256.slice(0, 12) },
  { title: 'CREATED', of: ({ createdAt }) => localTime(createdAt) },
  { title: 'BY', of: ({ createdBy, createdByName }) => whoInWords(createdBy, createdByName) },
  { title: 'USED BY', of: ({ usedBy }) => usedBy.join(' ') || null },
]

export function filesCommand(): Command {
  return groupCommand('files', lsCommand(), putCommand(), getCommand(), rmCommand()).addHelpText(
    'after',
    '\nExamples:\n  jobcast files put app 1.4 app.bin\n  jobcast files ls app\n  jobcast files get app 1.4 --file app.bin\n',
  )
}

function lsCommand(): Command {
  return ownerCommand('ls')
    .description('List the newest version of each file, or all versions of one (default).')
    .argument('[fileName]')
    .action(
      withClient(async ({ client, out }, fileName: string | undefined) => {
        const list = fileName === undefined ? client.files.list() : client.files.versions(fileName)
        out.showTable(await Array.fromAsync(list), columns)
      }),
    )
}

function putCommand(): Command {
  return ownerCommand('put')
    .description(
      'Upload a version of a file. The service verifies the hash of the content. After an interruption, repeat the ' +
        'command to resume the upload.',
    )
    .argument('<fileName>')
    .argument('<version>')
    .argument('<path>', 'file with the content')
    .option('--no-resume', 'send the content in one request, and do not resume an interrupted upload')
    .action(
      withClient(
        async ({ client, out, io }, fileName: string, version: string, path: string, flags: PutFlags) => {
          const sha256 = await hashOf(path).catch(cannotRead(path))
          const content = await openAsBlob(path)
          const options = { sha256: sha256.toString('base64'), resume: flags.resume }
          const { created, value } = await withTaskBar(io, 'Sending', (onProgress) =>
            client.files.put(fileName, version, content, { ...options, onProgress }),
          )
          const was = created ? 'Created' : 'Unchanged:'
          out.say(`${was} file ${fileName}, version ${version}: ${value.size} bytes, sha256 ${value.sha256}.`)
          out.show(value, () => '')
        },
      ),
    )
}

function getCommand(): Command {
  return ownerCommand('get')
    .description('Download the content of a version and verify its hash.')
    .argument('<fileName>')
    .argument('<version>')
    .option('-f, --file <path>', 'where to write it (default: the name of the file)')
    .action(
      withClient(async (context, fileName: string, version: string, { file }: { file?: string }) => {
        const path = file ?? fileName
        const found = await context.client.files.get(fileName, version)
        if (found.url !== null)
          throw new UsageError(`the content is not stored by the service: see ${found.url}`)
        await fetchTo(context, found, path)
        context.out.say(`Wrote ${path}: ${found.size} bytes, sha256 ${found.sha256}.`)
        context.out.show(found, () => '')
      }),
    )
}

function rmCommand(): Command {
  return ownerCommand('rm')
    .description('Delete a version of a file.')
    .argument('<fileName>')
    .argument('<version>')
    .option('-y, --yes', 'do not ask for confirmation')
    .action(
      withClient(async ({ client, out, io }, fileName: string, version: string, flags: { yes?: boolean }) => {
        if (!(await confirm(io, `Delete file ${fileName}, version ${version}?`, flags))) {
          out.say('Canceled; nothing was changed.')
          return exitCode.interrupted
        }
        await client.files.delete(fileName, version)
        out.say(`Deleted file ${fileName}, version ${version}.`)
        if (out.json) out.show({ deleted: [`${fileName}@${version}`] }, () => '')
        return exitCode.ok
      }),
    )
}

/** Writes to a temporary name until the file is complete and its hash matches. */
async function fetchTo(
  { client }: OwnerContext,
  { fileName, version, sha256 }: FileVersion,
  path: string,
): Promise<void> {
  const part = `${path}.part`
  const hash = createHash('sha256')
  const written = await open(part, 'w').catch((error: Error) => {
    throw new UsageError(`cannot write ${part}: ${error.message}`)
  })
  try {
    for await (const chunk of await client.files.content(fileName, version)) {
      hash.update(chunk)
      await written.appendFile(chunk)
    }
    await written.close()
    if (hash.digest('hex') !== sha256)
      throw new Error(`the downloaded content does not have the sha256 ${sha256}`)
    await rename(part, path)
  } catch (error) {
    await written.close().catch(() => undefined)
    await rm(part, { force: true })
    throw error
  }
}

async function hashOf(path: string): Promise<Buffer> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest()
}

function cannotRead(path: string) {
  return (error: Error): never => {
    throw new UsageError(`cannot read ${path}: ${systemReason(error)}`)
  }
}
