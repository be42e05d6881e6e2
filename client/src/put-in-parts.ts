// An upload in parts: what has arrived is kept by the service, so it goes on after a cut, and when the program is started again.

import { isJobcastError } from './errors.ts'
import { pause } from './pause.ts'
import { isTemporary, pauseMsBefore } from './repeat.ts'
import type { Put } from './resource-calls.ts'
import type { FileUpload, FileVersion } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

/** Small enough for proxies, which have limits for bodies and pass them on when they are whole. */
const partBytes = 8 * 1024 * 1024
/** Without a byte more at the service; the last pauses take up to 10 s each. */
const maxTries = 15
/** For a part; and for the last one, after which the service reads all of them. */
const partSeconds = 5 * 60
const readBytesPerSecond = 20 * 1024 * 1024

/** `sha256`: of the content, in base64. */
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
  /** Without a range: asks where it goes on. */
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
      // The same part again may be the wrong one.
      maxRetries: 0,
      signal,
    })
  }
  let from: number | undefined
  let most = 0
  /** In a row. More than one: somebody else sends the same content. */
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
