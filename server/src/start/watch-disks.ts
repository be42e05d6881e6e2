// Watches the disks with the database and with the files, which may differ.

import { mkdir } from 'node:fs/promises'
import { filesFolderIn } from '../config/config.ts'
import { DiskSpace } from '../state/disk-space.ts'
import type { Start } from './start.ts'

export type Disks = Awaited<ReturnType<typeof watchDisks>>

export async function watchDisks(start: Start) {
  // The disk of a database on another machine is not visible.
  const disk = start.config.databaseUrl === undefined ? await watchDisk(start) : undefined
  return { disk, filesDisk: await watchFilesDisk(start, disk) }
}

async function watchDisk({ config, readDisk, tell, metrics }: Start): Promise<DiskSpace | undefined> {
  const { dataFolder, minFreeDiskBytes } = config
  if (minFreeDiskBytes === 0) return undefined
  const disk = new DiskSpace({
    minFreeBytes: minFreeDiskBytes,
    read: () => readDisk(dataFolder),
    onChange: (change) => tell({ kind: 'disk-space-changed', ...change }),
  })
  await disk.check()
  metrics.gauge('jobcast_disk_free_bytes', 'Free space of the disk with the database', () => disk.freeBytes)
  return disk
}

async function watchFilesDisk(
  { config, readDisk }: Start,
  disk: DiskSpace | undefined,
): Promise<DiskSpace | undefined> {
  const { filesFolder, dataFolder, databaseUrl, minFreeDiskBytes } = config
  if (filesFolder === undefined || minFreeDiskBytes === 0) return undefined
  if (databaseUrl === undefined && filesFolder === filesFolderIn(dataFolder)) return disk
  const filesDisk = new DiskSpace({
    minFreeBytes: minFreeDiskBytes,
    read: async () => {
      await mkdir(filesFolder, { recursive: true, mode: 0o700 })
      return readDisk(filesFolder)
    },
    onChange: () => undefined,
  })
  // If the disk cannot be read, uploads report the failure themselves.
  await filesDisk.check().catch(() => undefined)
  return filesDisk
}
