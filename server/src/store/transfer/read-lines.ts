// Reads the lines of a gzip file in batches, in bounded memory.

import { createReadStream } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { createGunzip } from 'node:zlib'
import { TransferRefused } from './transfer.ts'

/** Far above the longest line that is written: a chunk of output, in hexadecimal. */
const longestLine = 256 * 1024 * 1024

/** `onRead` gets the number of bytes read from the file. */
export async function* readLines(file: string, onRead?: (bytes: number) => void): AsyncGenerator<string[]> {
  const source = createReadStream(file, { highWaterMark: 256 * 1024 })
  const gunzip = createGunzip({ chunkSize: 256 * 1024 })
  source.on('error', (error) => gunzip.destroy(error))
  const decoder = new StringDecoder('utf8')
  let rest = ''
  try {
    for await (const chunk of source.pipe(gunzip)) {
      const lines = (rest + decoder.write(chunk as Buffer)).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > longestLine) throw new TransferRefused(`${file} is not an export of Jobcast.`)
      onRead?.(source.bytesRead)
      if (lines.length > 0) yield lines
    }
  } catch (error) {
    throw refusalOf(error, file)
  } finally {
    source.destroy()
  }
  if (rest !== '') yield [rest]
}

/** Converts errors of zlib for files that are incomplete or not exports; errors of the system are not changed. */
function refusalOf(error: unknown, file: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'Z_BUF_ERROR') {
    return new TransferRefused(`${file} is cut short: it ends in the middle. Export or copy it again.`)
  }
  if (code === 'Z_DATA_ERROR') {
    return new TransferRefused(`${file} is not an export of Jobcast, or it is damaged.`)
  }
  return error
}
