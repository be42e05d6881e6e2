// A key that the service makes itself and keeps in a file of the data folder.

import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { prepareDataFolder } from '../store/data-folder.ts'
import { StartRefused } from '../store/migrate.ts'

/** Undefined: there is no such file. */
export function readKeyFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new StartRefused(`Cannot read ${file}: ${(error as Error).message}`)
  }
}

/**
 * It is there as a whole or not at all: what a lost key has encrypted or signed is of no use. `name` says in an error what the
 * key is, `instead` what else can be done than to make the folder writable.
 */
export function keepKeyFile(
  path: string,
  text: string,
  dataFolder: string,
  { name, instead }: { name: string; instead: string },
): string {
  const newPath = `${path}.${process.pid}.new`
  try {
    prepareDataFolder(dataFolder)
    const file = openSync(newPath, 'wx', 0o600)
    writeSync(file, text)
    fsyncSync(file)
    closeSync(file)
    linkSync(newPath, path)
    return text
  } catch (error) {
    throw new StartRefused(
      `Cannot store ${name} in ${path}: ${(error as Error).message.replace(/\.$/, '')}. ` +
        `Make that folder writable, or ${instead}.`,
    )
  } finally {
    rmSync(newPath, { force: true })
  }
}
