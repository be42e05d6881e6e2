// Versions of files. Their content is elsewhere, by its hash (files/content-folder.ts).

import type { StoredFile } from '../../domain/file/ports/files.ts'
import { inBoth, type Queries, sliced } from '../queries.ts'
import { computed, number, rows, select } from '../schema/column.ts'
import { fileVersion } from '../schema/tables.ts'
import type { ReadSteps, WriteSteps } from './step.ts'
import { readUsers } from './version-users.ts'

const newestNo = computed(
  `(SELECT max(newest.put_no) FROM file_version AS newest
    WHERE newest.owner_no = file_version.owner_no AND newest.file_name = file_version.file_name)`,
  number(),
)
const FILE = select({
  ...fileVersion.pick('fileName', 'version', 'putNo', 'size', 'sha256', 'sha1', 'md5', 'url'),
  ...fileVersion.pick('createdAt', 'createdBy'),
  newestNo,
})
const SELECT = `SELECT ${FILE} FROM file_version WHERE owner_no = :ownerNo` as const
const FIND = `${SELECT} AND file_name = :fileName AND version = :version` as const
const LIST = `
  ${SELECT} AND file_name > :after AND put_no = ${newestNo.sql} ORDER BY file_name LIMIT :limit` as const
const LIST_VERSIONS = `
  ${SELECT} AND file_name = :fileName AND put_no < :after ORDER BY put_no DESC LIMIT :limit` as const
const FIND_NEWEST = `${SELECT} AND file_name = :fileName ORDER BY put_no DESC LIMIT 1` as const
const COUNT = `
  SELECT count(*) AS count, coalesce(sum(CASE WHEN url IS NULL THEN size ELSE 0 END), 0) AS bytes
  FROM file_version WHERE owner_no = :ownerNo`
const COUNTED = rows({ count: number(), bytes: number() })
const INSERT = `
  INSERT INTO file_version
    (owner_no, file_name, version, put_no, size, sha256, sha1, md5, url, created_at, created_by)
  VALUES (:ownerNo, :fileName, :version,
    (SELECT coalesce(max(put_no), 0) + 1 FROM file_version WHERE owner_no = :ownerNo AND file_name = :fileName),
    :size, :sha256, :sha1, :md5, :url, :at, :principal)`
const DELETE = `
  DELETE FROM file_version WHERE owner_no = :ownerNo AND file_name = :fileName AND version = :version`
const KEPT = select(fileVersion.pick('sha256'))
const LIST_KEPT = inBoth(
  ({ by, isIn }) => `
  SELECT DISTINCT ${KEPT} FROM file_version ${by('file_version_kept')}
  WHERE ${isIn('sha256', 'sha256s', 'text')} AND url IS NULL`,
)

const maxPutNo = 2_147_483_647

type FileKey = { ownerNo: number; fileName: string; version: string }
type FileRow = ReturnType<typeof FILE.read>

export const fileReads: ReadSteps<'findFiles' | 'countFileBytes' | 'listKeptContents'> = {
  findFiles,
  async countFileBytes(queries, { ownerNo }) {
    return Number((await queries.one(COUNTED, COUNT, { ownerNo })).bytes)
  },
  async listKeptContents(queries, { sha256s }) {
    return (await queries.all(KEPT, LIST_KEPT, { sha256s })).map(({ sha256 }) => sha256)
  },
}

export const fileSnapshots: ReadSteps<'getFile' | 'listFiles' | 'listFileVersions'> = {
  getFile,
  async listFiles(queries, { ownerNo, slice: { after = '', limit } }) {
    const found = await queries.all(FILE, LIST, { ownerNo, after, limit: limit + 1 })
    const { items, next } = sliced(found, limit, ({ fileName }) => fileName)
    return { items: await withUsers(queries, ownerNo, items), next }
  },
  async listFileVersions(queries, { ownerNo, fileName, slice: { after = maxPutNo, limit } }) {
    const found = await queries.all(FILE, LIST_VERSIONS, { ownerNo, fileName, after, limit: limit + 1 })
    const { items, next } = sliced(found, limit, ({ putNo }) => putNo)
    return { items: await withUsers(queries, ownerNo, items), next }
  },
}

/** On PostgreSQL serialized per owner, also with the creation of runs. */
export const fileNameWrites: WriteSteps<'putFile' | 'deleteFile'> = {
  async putFile(queries, put) {
    const { ownerNo, fileName, version, size, sha256, sha1, md5, url, principal, at, most, mostBytes } = put
    const key = { ownerNo, fileName, version }
    const before = await getFile(queries, key)
    if (before) {
      const isSame = before.sha256 === sha256 && before.size === size && before.url === url
      return isSame ? { kind: 'put', created: false, value: before } : { kind: 'other-content' }
    }
    const { count, bytes } = await queries.one(COUNTED, COUNT, { ownerNo })
    if (Number(count) >= most) return { kind: 'too-many' }
    if (url === null && mostBytes > 0 && Number(bytes) + size > mostBytes) return { kind: 'too-many-bytes' }
    await queries.run(INSERT, { ...key, size, sha256, sha1, md5, url, at, principal })
    const data = { fileName, version, size, sha256, principal }
    const after = { fileName, version, size, sha256 }
    queries.resourceChanged('file.created', { ownerNo, at, data, after })
    const value = await getFile(queries, key)
    if (value === undefined) throw new Error('a file that was stored is missing')
    return { kind: 'put', created: true, value }
  },
  async deleteFile(queries, { ownerNo, fileName, version, principal, at }) {
    const found = await getFile(queries, { ownerNo, fileName, version })
    if (found === undefined) return { kind: 'unknown-file' }
    const { jobNames, scheduleNames, runIds } = found.usedBy
    if (jobNames.length + scheduleNames.length + runIds.length > 0) return { kind: 'in-use', ...found.usedBy }
    await queries.run(DELETE, { ownerNo, fileName, version })
    const { size, sha256 } = found
    const before = { fileName, version, size, sha256 }
    queries.resourceChanged('file.deleted', { ownerNo, at, data: { fileName, version, principal }, before })
    return { kind: 'deleted' }
  },
}

/** The first one that does not exist. */
export async function missingFile(
  queries: Queries,
  ownerNo: number,
  refs: readonly string[] = [],
): Promise<string | undefined> {
  if (refs.length === 0) return undefined
  const found = await findFiles(queries, { ownerNo, refs: [...refs] })
  return refs.find((ref) => !found.some((each) => each.ref === ref))
}

/** Each is found by an index: a file may have thousands of versions, and this runs for every document with files. */
async function findFiles(queries: Queries, { ownerNo, refs }: { ownerNo: number; refs: string[] }) {
  const found = await Promise.all(refs.map((ref) => findByRef(queries, ownerNo, ref)))
  return refs.flatMap((ref, index) => {
    const file = found[index]
    if (file === undefined) return []
    const { fileName, version, size, sha256, sha1, md5, url, putNo } = file
    return [{ ref, fileName, version, size, sha256, sha1, md5, url, isNewest: putNo === file.newestNo }]
  })
}

/** `NAME@VERSION`, or `NAME`: its newest version. */
function findByRef(queries: Queries, ownerNo: number, ref: string): Promise<FileRow | undefined> {
  const at = ref.indexOf('@')
  if (at === -1) return queries.get(FILE, FIND_NEWEST, { ownerNo, fileName: ref })
  return queries.get(FILE, FIND, { ownerNo, fileName: ref.slice(0, at), version: ref.slice(at + 1) })
}

function refOf({ fileName, version }: Pick<FileRow, 'fileName' | 'version'>): string {
  return `${fileName}@${version}`
}

async function getFile(queries: Queries, key: FileKey): Promise<StoredFile | undefined> {
  const found = await queries.get(FILE, FIND, key)
  return found && (await withUsers(queries, key.ownerNo, [found]))[0]
}

async function withUsers(queries: Queries, ownerNo: number, files: FileRow[]): Promise<StoredFile[]> {
  const names = files.flatMap((file) => [refOf(file), file.fileName])
  const usersOf = await readUsers(queries, 'files', ownerNo, [...new Set(names)])
  return files.map(({ newestNo, ...file }) => {
    const isNewest = file.putNo === newestNo
    const [pinned, other] = [usersOf(refOf(file)), isNewest ? usersOf(file.fileName) : undefined]
    const both = <Name>(names: Name[], more: Name[] = []) => [...new Set([...names, ...more])]
    const usedBy = {
      jobNames: both(pinned.jobNames, other?.jobNames),
      scheduleNames: both(pinned.scheduleNames, other?.scheduleNames),
      runIds: both(pinned.runIds, other?.runIds),
    }
    return { ...file, isNewest, usedBy }
  })
}
