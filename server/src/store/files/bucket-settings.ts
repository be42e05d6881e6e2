/** A bucket with its credentials. */
export type BucketSettings = Readonly<{
  /** The URL of the store, without a slash at the end. */
  endpoint: string
  bucket: string
  /** The prefix of all keys: empty, or ending with a slash. */
  prefix: string
  region: string
  /** Undefined: the default credential chain of the AWS SDK. */
  credentials: Readonly<{ accessKeyId: string; secretAccessKey: string }> | undefined
  /** The URL of the store for devices, which fetch files from the bucket itself. Undefined: they fetch from this service. */
  direct?: string
  /** Keys of objects and folders, without a slash at the end, that documents may name. An empty one: all of the bucket. */
  placeholders?: readonly string[]
}>

/** A description for people. */
export function describeBucket({ endpoint, bucket, prefix }: BucketSettings): string {
  return `${endpoint}/${bucket}${prefix === '' ? '' : `/${prefix.slice(0, -1)}`}`
}
