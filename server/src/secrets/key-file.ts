// A key that the service generates and stores in a file of the data folder.

import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { prepareDataFolder } from '../store/data-folder.ts'
import { StartRefused } from '../store/migrate.ts'

/** Undefined: no such file. */
export function readKeyFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new StartRefused(`Cannot read ${file}: ${(error as Error).message}`)
  }
}

/**
 * Writes the file atomically, because data that was encrypted or signed with a lost key is useless. `name` describes the key in
 * errors, `instead` an alternative to making the folder writable.
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
