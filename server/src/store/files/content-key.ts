/** The key of content in a bucket, behind the prefix; in a folder, its path. */
export function keyOfContent(sha256: string): string {
  return `${sha256.slice(0, 2)}/${sha256}`
}
