// An upload in parts: the service keeps the received part, so the upload can be resumed, also when the program is restarted.

import { isJobcastError } from './errors.ts'
import { pause } from './pause.ts'
import { isTemporary, pauseMsBefore } from './repeat.ts'
import type { Put } from './resource-calls.ts'
import type { FileUpload, FileVersion } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

/** Small enough for proxies, which limit the size of bodies and buffer them completely. */
const partBytes = 8 * 1024 * 1024
/** Maximum number of consecutive tries without progress; the last delays take up to 10 s each. */
const maxTries = 15
/** Time limit of a part. The last one takes longest, because the service then reads the whole content. */
const partSeconds = 5 * 60
const readBytesPerSecond = 20 * 1024 * 1024

/** `sha256`: the hash of the content, in base64. */
type PartedFile = CallOptions & {
  path: string
  content: Blob
  sha256: string
  onProgress?: ((received: number, size: number) => void) | undefined
}

export async function putInParts(
  transport: Transport,
  { path, content, sha256, onProgress, signal }: PartedFile,
): Promise<Put<FileVersion>> {
  const { size } = content
  /** Without a range: queries where the upload continues. */
  const send = (from?: number) => {
    const part = from === undefined ? undefined : content.slice(from, from + partBytes)
    const range = part === undefined ? '*' : `${from}-${(from ?? 0) + part.size - 1}`
    return transport.answer<FileVersion | FileUpload>({
      method: 'PUT',
      path,
      ...(part && { content: part }),
      headers: {
        'content-type': 'application/octet-stream',
        'repr-digest': `sha-256=:${sha256}:`,
        'content-range': `bytes ${range}/${size}`,
      },
      holdSeconds: partSeconds + size / readBytesPerSecond,
      // Not retried, because the offset may have changed.
      maxRetries: 0,
      signal,
    })
  }
  let from: number | undefined
  let most = 0
  /** Consecutive offset conflicts. More than one: another client uploads the same content. */
  let timesElsewhere = 0
  for (let tryNo = 1; ; ) {
    try {
      const { status, value } = await send(from)
      if (status !== 202) {
        onProgress?.(size, size)
        return { created: status === 201, value: value as FileVersion }
      }
      const { received } = value as FileUpload
      if (from !== undefined) timesElsewhere = 0
      from = received
      if (received > most) tryNo = 1
      most = Math.max(most, received)
      onProgress?.(received, size)
    } catch (error) {
      const isElsewhere = isJobcastError(error, 'J-323')
      if (!isElsewhere && !isTemporary(error)) throw error
      if (tryNo > maxTries) throw error
      if (isElsewhere) timesElsewhere++
      const isStale = timesElsewhere === 1 && isElsewhere
      await pause(isStale ? 0 : pauseMsBefore(Math.max(tryNo, timesElsewhere), error), signal)
      tryNo++
      from = undefined
    }
  }
}
