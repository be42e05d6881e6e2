import { readFileSync, statSync } from 'node:fs'

const pollMs = 1000

/** Calls with the new content when the file has changed, until it is stopped. A file that is gone has not changed. */
export function watchFile(
  path: string,
  onChange: (content: string) => void,
  onFailure: (error: unknown) => void,
): () => void {
  let before = versionOf(path)
  const timer = setInterval(() => {
    const version = versionOf(path)
    if (version === undefined || version === before) return
    before = version
    try {
      onChange(readFileSync(path, 'utf8'))
    } catch (error) {
      onFailure(error)
    }
  }, pollMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** A file that is replaced by another one has another inode. */
function versionOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat && `${stat.ino} ${stat.mtimeMs} ${stat.size}`
}
