// Files: content that devices fetch, by name and version.

import { List, type Query } from './list.ts'
import { openChunks } from './open-chunks.ts'
import { path } from './path.ts'
import { type Put, remove } from './resource-calls.ts'
import type { FileReference, FileVersion, ListFilesQuery, ListFileVersionsQuery } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

/** `sha256`: of the content, in base64; the service rejects what arrives otherwise (J-508). */
export type PutFileOptions = CallOptions & { sha256?: string | undefined }
/** `offset`: the byte to start at. */
export type FileContentOptions = CallOptions & { offset?: number | undefined }

const referenceType = 'application/vnd.jobcast.file-reference+json'
/** A large file over a slow connection. */
const uploadSeconds = 12 * 60 * 60
const silenceMs = 60_000

export class Files {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Content, or a reference to content that is kept elsewhere. `created` is false if it was there with the same content. */
  async put(
    fileName: string,
    version: string,
    content: Blob | Uint8Array<ArrayBuffer> | FileReference,
    { sha256, signal }: PutFileOptions = {},
  ): Promise<Put<FileVersion>> {
    const isContent = content instanceof Blob || content instanceof Uint8Array
    const { status, value } = await this.#transport.answer<FileVersion>({
      method: 'PUT',
      path: path`/job/api/files/${fileName}/${version}`,
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

  get(fileName: string, version: string, { signal }: CallOptions = {}): Promise<FileVersion> {
    return this.#transport.value({
      method: 'GET',
      path: path`/job/api/files/${fileName}/${version}`,
      signal,
    })
  }

  /** The newest version of each, by name. */
  list(query: Query<ListFilesQuery> = {}, options: CallOptions = {}): List<FileVersion> {
    return new List(this.#transport, '/job/api/files', query, options)
  }

  /** Newest first. */
  versions(
    fileName: string,
    query: Query<ListFileVersionsQuery> = {},
    options: CallOptions = {},
  ): List<FileVersion> {
    return new List(this.#transport, path`/job/api/files/${fileName}`, query, options)
  }

  /** Of a version that is kept by the service; where it is a reference, see its `url`. */
  async content(
    fileName: string,
    version: string,
    { offset = 0, signal }: FileContentOptions = {},
  ): Promise<AsyncIterable<Uint8Array>> {
    const { chunks } = await openChunks(
      this.#transport,
      {
        method: 'GET',
        path: path`/job/api/files/${fileName}/${version}/content`,
        ...(offset > 0 && { headers: { range: `bytes=${offset}-` } }),
        signal,
      },
      silenceMs,
    )
    return chunks
  }

  delete(fileName: string, version: string, { signal }: CallOptions = {}): Promise<void> {
    return remove(this.#transport, { path: path`/job/api/files/${fileName}/${version}`, signal })
  }
}
