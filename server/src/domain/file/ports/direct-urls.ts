/** Devices fetch from the bucket itself, by URLs that are signed for an hour. */
export type DirectUrls = {
  readonly bucket: string
  /** The prefix of the keys that belong to this service; empty: all keys do. */
  readonly prefix: string
  /** Keys of objects and folders that documents may name; an empty one: all. Undefined: none. */
  readonly placeholders: readonly string[] | undefined
  /** Whether the host of a URL is the store, with or without the name of the bucket in front. */
  isOfStore(host: string): boolean
  /** Undefined: no URL would be valid for an hour, because there are no credentials or they end earlier. */
  ofContent(sha256: string): Promise<string | undefined>
  /** For another object of the bucket. Valid for an hour, or until the credentials end. Rejects with StorageUnavailable. */
  ofObject(key: string): Promise<string>
}
