// Files in a fleet file, by version: NAME@VERSION, and the path of its content on this machine, or a reference. Versions are
// immutable: one with the same hash is unchanged, and the service rejects one with another hash.

import { createHash } from 'node:crypto'
import { closeSync, openAsBlob, openSync, readSync, statSync } from 'node:fs'
import type { FileVersion, Jobcast } from '@jobcast/client'
import { FileReference, FileVersionParams } from '@jobcast/contract'
import Type, { type TString } from 'typebox'
import type { Fields, Kind } from './kind.ts'

const { url, size, sha256, sha1, md5 } = FileReference.properties
const contentSchema = Type.Object(
  {
    path: Type.Optional(Type.String({ minLength: 1, description: 'File with the content' })),
    url: Type.Optional(url),
    size: Type.Optional(size),
    sha256: Type.Optional(sha256),
    sha1,
    md5,
  },
  { additionalProperties: false },
)

const { fileName, version } = FileVersionParams.properties
const pattern = `${patternOf(fileName).slice(0, -1)}@${patternOf(version).slice(1)}`

export const fileKind: Kind = {
  field: 'files',
  noun: 'file',
  nameField: 'ref',
  nameSchema: Type.String({ pattern }),
  contentSchema,
  refusal(_name, { path, ...reference }) {
    const given = Object.keys(reference).length
    if ((path === undefined) === (given === 0)) return 'needs either path, or url, size and sha256'
    if (path !== undefined) return isFile(String(path)) ? undefined : `there is no file ${path}`
    const isWhole = ['url', 'size', 'sha256'].every((field) => reference[field] !== undefined)
    return isWhole ? undefined : 'a reference needs url, size and sha256'
  },
  filled: (_name, { path, url = null, sha256 }) => ({
    sha256: path === undefined ? sha256 : hashOf(String(path)).toString('hex'),
    url,
  }),
  async *list(client) {
    for await (const { fileName } of client.files.list({ limit: 200 }))
      for await (const each of client.files.versions(fileName, { limit: 200 })) yield named(each)
  },
  get: async (client, name) => named(await client.files.get(...partsOf(name))),
  async put(client, name, content) {
    await send(client, name, content)
    return undefined
  },
  remove: (client, name) => client.files.delete(...partsOf(name)),
}

async function send(client: Jobcast, name: string, { path, ...reference }: Fields): Promise<void> {
  const [fileName, version] = partsOf(name)
  if (path === undefined) {
    await client.files.put(fileName, version, reference as FileReference)
    return
  }
  const sha256 = hashOf(String(path)).toString('base64')
  await client.files.put(fileName, version, await openAsBlob(String(path)), { sha256 })
}

function named(file: FileVersion): object {
  return { ...file, ref: `${file.fileName}@${file.version}` }
}

function partsOf(name: string): [fileName: string, version: string] {
  const at = name.indexOf('@')
  return [name.slice(0, at), name.slice(at + 1)]
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

/** Reads the file in pieces, because it may be larger than memory. */
function hashOf(path: string): Buffer {
  const hash = createHash('sha256')
  const piece = Buffer.allocUnsafe(1024 * 1024)
  const file = openSync(path, 'r')
  try {
    for (;;) {
      const count = readSync(file, piece)
      if (count === 0) break
      hash.update(piece.subarray(0, count))
    }
  } finally {
    closeSync(file)
  }
  return hash.digest()
}

function patternOf(schema: TString): string {
  return String((schema as { pattern?: unknown }).pattern)
}
