// Opens the storage for content of files: a bucket or a folder, or none on PostgreSQL if neither is set.

import type { FileContents } from '../domain/file/ports/contents.ts'
import type { DiskSpace } from '../state/disk-space.ts'
import { openBucket } from '../store/files/bucket.ts'
import { BucketContents } from '../store/files/bucket-contents.ts'
import { type BucketSettings, describeBucket } from '../store/files/bucket-settings.ts'
import { ContentFolder } from '../store/files/content-folder.ts'
import { examineOpen } from '../store/files/examine-bucket.ts'
import { openDirectUrls } from '../store/files/presigned-urls.ts'
import { StartRefused } from '../store/migrate.ts'
import type { Storage } from './open-storage.ts'
import type { Start } from './start.ts'

export async function openContents(
  start: Start,
  storage: Storage,
  disk: DiskSpace | undefined,
): Promise<{ contents?: FileContents }> {
  const { config, tell } = start
  const { now, store, joined } = storage
  const { filesFolder: folder, filesBucket } = config
  const shared = {
    now,
    // Other nodes may share it.
    isShared: joined !== undefined,
    // The first owner is created once, and identifies the database even after it is moved.
    installationId: async () => (await store.findOwnerByName({ ownerName: 'default' }))?.ownerId,
  }
  if (filesBucket) return { contents: await openBucketContents(start, filesBucket, shared) }
  if (folder === undefined) return {}
  return {
    contents: new ContentFolder({
      ...{ ...shared, folder },
      requireRoom: (bytes) => disk?.requireRoomForFile(bytes),
      onForeign: (folder) => tell({ kind: 'foreign-files-folder', folder }),
    }),
  }
}

/** A bucket that does not respond does not keep the service from starting. */
async function openBucketContents(
  { elapsed, tell, takeDown }: Start,
  settings: BucketSettings,
  shared: { now: () => number; isShared: boolean; installationId: () => Promise<string | undefined> },
): Promise<FileContents> {
  const [bucket, where] = [await openBucket(settings), describeBucket(settings)]
  takeDown.add(() => bucket.close())
  const problem = await examineOpen(bucket, where)
  if (problem?.isLasting) throw new StartRefused(`Files cannot be kept: ${problem.text}`)
  if (problem) tell({ kind: 'bucket-unavailable', text: problem.text })
  const onForeign = () => tell({ kind: 'foreign-files-bucket', bucket: where })
  const direct = await openDirectUrls({ bucket, settings, now: shared.now })
  return new BucketContents({ ...{ ...shared, bucket, where, elapsed, onForeign, direct } })
}
