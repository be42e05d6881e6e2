// A disk whose power can be cut: an ext4 image on a loop device. The cut throws away whatever the file system
// has not been made to write, as a real one does. Needs root, loop devices, mkfs.ext4 and perl (for the ioctl).

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: nothing more is written, not even the journal. */
const shutDown =
  'open(my $d, "<", $ARGV[0]) or die $!; my $v = pack("L", 2); ioctl($d, 0x8004587D, $v) or die $!'

export type PowerCutDisk = {
  /** The mounted folder. */
  folder: string
  cut(): void
  /** After a cut and with no process on it any more: mounts it again, which recovers it. */
  comeBack(): void
  remove(): void
}

/** Undefined, after printing the reason, where this machine does not allow it. */
export function openPowerCutDisk(parent: string, whyNot: (reason: string) => void): PowerCutDisk | undefined {
  const image = join(parent, 'disk.img')
  const folder = join(parent, 'disk')
  try {
    run('perl', '-e', '1')
    mkdirSync(folder)
    writeFileSync(image, '')
    // Sparse: 200 cuts leave some hundred megabytes of executions.
    run('truncate', '--size', '4G', image)
    run('mkfs.ext4', '-q', '-F', image)
    run('mount', '-o', 'loop', image, folder)
  } catch (error) {
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
    // Lazy: after a failure a server may still have files open, and what failed must be seen.
    remove: () => run('umount', '--lazy', folder),
  }
}

function run(program: string, ...args: string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
}
