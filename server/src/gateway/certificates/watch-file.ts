import { readFileSync, statSync } from 'node:fs'

const pollMs = 1000

/** Calls `onChange` when the file has changed; deleting it does not count. Returns a function that stops watching. */
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

/** Includes the inode, which differs when the file is replaced. */
function versionOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat && `${stat.ino} ${stat.mtimeMs} ${stat.size}`
}
