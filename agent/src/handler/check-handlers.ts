// Checks who can write to the handlers folder, and so change what jobs can do on this device.

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { systemReason } from '@jobcast/contract/words'
import { StartRefused } from '../state/start-refused.ts'

const byGroup = 0o020
const byAll = 0o002
const byOwner = 0o200
/** Further files are not checked; a handler that everyone can write to is not run anyway. */
const mostFiles = 1000

const nameAnother = 'Create the folder of handlers, or name it with --handlers.'

/** The warnings, one sentence each. Throws StartRefused if everyone can write to the folder. */
export async function checkHandlers(path: string, user = process.getuid?.() ?? 0): Promise<string[]> {
  const folder = await stat(path).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'ENOENT' ? 'does not exist' : `cannot be read: ${systemReason(error)}`
    throw new StartRefused(`The handlers folder ${path} ${reason}. ${nameAnother}`)
  })
  if (!folder.isDirectory()) throw new StartRefused(`${path} is not a folder. ${nameAnother}`)
  if (folder.mode & byAll) {
    throw new StartRefused(
      `Everyone can write to the folder of handlers ${path}, and so decide what runs here: chmod o-w ${path}`,
    )
  }
  const names = (await readdir(path).catch(() => [])).slice(0, mostFiles)
  const found = await Promise.all(
    names.map(async (name) => [name, await stat(join(path, name)).catch(() => undefined)] as const),
  )
  const all = [[path, folder] as const, ...found]
  const ofGroup = all.filter(([, file]) => file && file.mode & byGroup).map(([name]) => name)
  // Root can write everywhere, so this warning would not help.
  const ofUser = all.filter(([, file]) => user !== 0 && file?.uid === user && file.mode & byOwner)
  return [
    ...(ofGroup.length > 0 ? [`a group can write to ${listed(ofGroup)}: chmod g-w`] : []),
    ...(ofUser.length > 0
      ? [
          `the agent's own user can write to ${listed(ofUser.map(([name]) => name))}, and so can every handler: let root own it`,
        ]
      : []),
  ]
}

function listed(names: string[]): string {
  const more = names.length > 3 ? ` and ${names.length - 3} more` : ''
  return `${names.slice(0, 3).join(', ')}${more}`
}
