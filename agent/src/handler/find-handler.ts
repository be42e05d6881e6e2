// Finds a handler's file, or says why it cannot be used, worded for the user who triggered the job.
//
// A handler is a program that the owner of the device has installed; jobs name handlers and cannot bring their own.
// Read next: handler-environment.ts, what it is started with; check-handlers.ts, who could change it.

import { constants } from 'node:fs'
import { access, lstat, open, stat } from 'node:fs/promises'
import { join } from 'node:path'

type FoundHandler = { path: string } | { refusal: string }

const writableByAll = 0o002

/** `name` is a file name, not a path (plan-work.ts checks that). */
export async function findHandler(folder: string, name: string): Promise<FoundHandler> {
  const path = join(folder, name)
  try {
    const [link, file] = [await lstat(path), await stat(path)]
    const refusal =
      (link.isSymbolicLink() && !(await isLinkTrusted(folder, link.uid))
        ? 'is a symbolic link that was created by neither root nor the owner of the folder'
        : undefined) ??
      (file.isFile() ? undefined : 'is not a file') ??
      (file.mode & writableByAll ? 'can be written by everyone' : undefined) ??
      ((await isExecutable(path)) ? undefined : 'is not executable (chmod +x)') ??
      ((await hasCrlfShebang(path))
        ? 'has a first line that ends in CR LF, so that its interpreter is not found: save it with LF'
        : undefined)
    return refusal === undefined ? { path } : { refusal: `the handler "${name}" ${refusal}` }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { refusal: `there is no handler "${name}" on this device` }
      : { refusal: `the handler "${name}" cannot be used: ${message}` }
  }
}

/** A link may lead out of the folder, so only the folder's owner or root may have made it. */
async function isLinkTrusted(folder: string, linkOwner: number): Promise<boolean> {
  return linkOwner === 0 || linkOwner === (await stat(folder)).uid
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

/** The kernel would look for "/bin/sh\r" and report only ENOENT. */
async function hasCrlfShebang(path: string): Promise<boolean> {
  let file: Awaited<ReturnType<typeof open>>
  try {
    file = await open(path)
  } catch {
    // A program may be executable but not readable.
    return false
  }
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0)
    const [firstLine = ''] = buffer.toString('latin1', 0, bytesRead).split('\n')
    return firstLine.startsWith('#!') && firstLine.endsWith('\r')
  } finally {
    await file.close()
  }
}
