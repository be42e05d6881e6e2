/** `app-1.4.bin` is probably version 1.4 of the file app. */
export function guessFileName(diskName: string): { fileName: string; version: string } {
  const [, name = '', version = ''] =
    /^(.+?)[-_ ]v?(\d[\w.+-]*?)(?:\.[A-Za-z][A-Za-z0-9]*)*$/.exec(diskName.slice(0, 200)) ?? []
  const stem = name || diskName.replace(/(?<=.)\..*$/, '')
  return { fileName: stem.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 64), version }
}
