// A disk whose power can be cut: an ext4 image on a loop device. Like a real power cut, it discards everything that was not
// synced. Needs root, loop devices, mkfs.ext4 and perl (for the ioctl). The image is in memory where there is room: what a sync
// of the image costs on the machine's disk changes nothing about what a cut discards, and the test waits for no other test's writes.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: nothing more is written, not even the journal. */
const shutDown =
  'open(my $d, "<", $ARGV[0]) or die $!; my $v = pack("L", 2); ioctl($d, 0x8004587D, $v) or die $!'

const memory = '/dev/shm'
/** More than 200 cuts leave. */
const roomNeeded = 4 * 2 ** 30

export type PowerCutDisk = {
  /** The mounted folder. */
  folder: string
  cut(): void
  /** Call after a cut, when no process uses the disk: mounts it again, which recovers it. */
  comeBack(): void
  remove(): void
}

/** Prints the reason and returns undefined if this machine does not allow it. */
export function openPowerCutDisk(parent: string, whyNot: (reason: string) => void): PowerCutDisk | undefined {
  const inMemory = makeFolderInMemory()
  const image = join(inMemory ?? parent, 'disk.img')
  const removeImage = () => {
    if (inMemory !== undefined) rmSync(inMemory, { recursive: true, force: true })
  }
  const folder = join(parent, 'disk')
  try {
    run('perl', '-e', '1')
    mkdirSync(folder)
    writeFileSync(image, '')
    // A sparse file: 200 cuts leave some hundred megabytes of executions.
    run('truncate', '--size', '4G', image)
    run('mkfs.ext4', '-q', '-F', image)
    run('mount', '-o', 'loop', image, folder)
  } catch (error) {
    removeImage()
    whyNot(`no disk to cut here: ${(error as Error).message.split('\n')[0]}`)
    return undefined
  }
  return {
    folder,
    cut: () => run('perl', '-e', shutDown, folder),
    comeBack() {
      run('umount', folder)
      run('mount', '-o', 'loop', image, folder)
    },
    // Lazy: after a failure a server may still have files open, and the failure must not be hidden by an error here.
    remove() {
      run('umount', '--lazy', folder)
      removeImage()
    },
  }
}

function makeFolderInMemory(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize < roomNeeded ? undefined : mkdtempSync(join(memory, 'jobcast-disk-'))
  } catch {
    return undefined
  }
}

function run(program: string, ...args: string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
}
