// Puts a version of a file: content, large content in parts, or a reference to content elsewhere.

import { putInParts } from './put-in-parts.ts'
import type { Put } from './resource-calls.ts'
import type { FileReference, FileVersion } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export type FileContent = Blob | Uint8Array<ArrayBuffer> | FileReference
export type PutFileOptions = CallOptions & {
  /** The hash of the content, in base64; the service rejects other content (J-508). */
  sha256?: string | undefined
  /**
   * Whether an interrupted upload is resumed, also one of another process. By default true for a Blob of more than 8 MiB with
   * `sha256`.
   */
  resume?: boolean | undefined
  /** Called with the number of received bytes; only for an upload that can be resumed. */
  onProgress?: ((received: number, size: number) => void) | undefined
}
const referenceType = 'application/vnd.jobcast.file-reference+json'
/** Enough for a large file over a slow connection. */
const uploadSeconds = 12 * 60 * 60
/** Smaller content is sent again as a whole. */
const resumedFromBytes = 8 * 1024 * 1024

export async function putFile(
  transport: Transport,
  path: string,
  content: FileContent,
  { sha256, resume = true, onProgress, signal }: PutFileOptions,
): Promise<Put<FileVersion>> {
  if (resume && sha256 !== undefined && content instanceof Blob && content.size > resumedFromBytes) {
    return putInParts(transport, { path, content, sha256, onProgress, signal })
  }
  const isContent = content instanceof Blob || content instanceof Uint8Array
  const { status, value } = await transport.answer<FileVersion>({
    method: 'PUT',
    path,
    content: isContent ? content : JSON.stringify(content),
    headers: {
      'content-type': isContent ? 'application/octet-stream' : referenceType,
      ...(sha256 !== undefined && { 'content-digest': `sha-256=:${sha256}:` }),
    },
    holdSeconds: uploadSeconds,
    signal,
  })
  return { created: status === 201, value }
}
