// Files: content for devices, by name and version.

import { List, type Query } from './list.ts'
import { openChunks } from './open-chunks.ts'
import { path } from './path.ts'
import type { FileContent, PutFileOptions } from './put-file.ts'
import { type Put, remove } from './resource-calls.ts'
import type { FileVersion, ListFilesQuery, ListFileVersionsQuery } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

/** `offset`: the byte to start at. */
export type FileContentOptions = CallOptions & { offset?: number | undefined }

const silenceMs = 60_000

export class Files {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Puts content, or a reference to content elsewhere. `created` is false if the version existed with the same content. */
  async put(
    fileName: string,
    version: string,
    content: FileContent,
    options: PutFileOptions = {},
  ): Promise<Put<FileVersion>> {
    // Loaded on demand, to keep the console small.
    const { putFile } = await import('./put-file.ts')
    return putFile(this.#transport, path`/job/api/files/${fileName}/${version}`, content, options)
  }

  get(fileName: string, version: string, { signal }: CallOptions = {}): Promise<FileVersion> {
    return this.#transport.value({
      method: 'GET',
      path: path`/job/api/files/${fileName}/${version}`,
      signal,
    })
  }

  /** The newest version of each file, by name. */
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

  /** Only for a version that is stored by the service; for a reference, see its `url`. */
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
