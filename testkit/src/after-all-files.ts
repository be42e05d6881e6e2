// Closes what the files of a process share after the last file. The runner imports this before any file, so that the hook
// belongs to none of them.

import { after } from 'node:test'

const closes: (() => unknown)[] = []

after(async () => {
  for (const close of closes) await close()
})

export function afterAllFiles(close: () => unknown): void {
  closes.push(close)
}
