// The data folder: created if missing, and readable by its owner only, also if an older version created it.

import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { StartRefused } from './migrate.ts'

const folderMode = 0o700
const fileMode = 0o600
const othersMode = 0o077

/** All files that Jobcast creates in the folder. They contain secrets, or are temporary files next to one that does. */
const ours =
  /^(jobcast\.(db|lock)(-wal|-shm|-journal)?|(admin-key|secrets-key|audit-key\.pem)(\.[0-9A-Za-z]+\.new)?|simulated-devices\.json|files)$/

/** Throws StartRefused with a sentence for the operator if the folder cannot be used. */
export function prepareDataFolder(folder: string): void {
  try {
    createFolder(resolve(folder))
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new StartRefused(
      `The data folder ${folder} cannot be used: ${explain(error as NodeJS.ErrnoException)}. ` +
        'Choose another with --data.',
    )
  }
  tightenModes(folder)
}

/**
 * SQLite would create the file readable by all; its log and shared memory get the mode of the file. An existing file is not
 * opened here: closing it would release the locks that this process holds on it.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', fileMode))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Node's own recursive mkdir does not return where a parent exists that no folder can be created in, as in /proc. */
function createFolder(folder: string): void {
  const missing: string[] = []
  let path = folder
  while (!isFolder(path) && path !== dirname(path)) {
    missing.push(path)
    path = dirname(path)
  }
  for (const each of missing.reverse()) {
    try {
      mkdirSync(each, { mode: folderMode })
    } catch (error) {
      // Another node may have created it concurrently.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(each)) throw error
    }
  }
}

/** False if it does not exist. Throws if something else has this name. */
function isFolder(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return false
  if (found.isDirectory()) return true
  throw Object.assign(new Error(`${path} is a file`), { code: 'ENOTDIR' })
}

/** A folder with other files, such as /tmp, keeps its mode; only the modes of our files are changed. */
function tightenModes(folder: string): void {
  if (process.platform === 'win32') return
  const names = readdirSync(folder)
  const files = names.filter((name) => ours.test(name))
  if (files.length === names.length) tighten(folder)
  for (const name of files) tighten(join(folder, name))
}

function tighten(path: string): void {
  try {
    const { mode } = statSync(path)
    if ((mode & othersMode) !== 0) chmodSync(path, mode & 0o7777 & ~othersMode)
  } catch (error) {
    // The file belongs to another user (such as a volume shared with a group), or was just deleted.
    if (!['EPERM', 'ENOENT', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

function explain({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return 'this user may not write there'
    case 'EROFS':
      return 'the file system is read-only'
    case 'ENOTDIR':
    case 'EEXIST':
      return 'it, or a folder above it, is a file'
    case 'ENOENT':
      return 'no folder can be created there'
    case 'ENOSPC':
      return 'the disk is full'
    default:
      return message
  }
}
