// One pipe for both output streams of a program, so that what it writes arrives in the order in which it wrote it. Node gives
// a child a pipe for each stream; a connected pair of sockets can be given to it twice.

import { closeSync, openSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'

export type SharedPipe = {
  /** What the program writes. */
  reader: Socket
  /** For stdout and stderr of the program. Destroy it once that runs: the reader ends when nobody has it open. */
  writer: Socket
}

/** The name in the folder, while the pair is made. */
const name = 'pipe'
/** The system's limit for the path of a socket is 108 bytes on Linux and 104 elsewhere. */
const longestPath = 100

/** Only this user may have access to the folder. */
export async function openSharedPipe(folder: string): Promise<SharedPipe> {
  const path = join(folder, name)
  // Of a start that was killed in between.
  rmSync(path, { force: true })
  if (Buffer.byteLength(path) <= longestPath) return connectPair(path)
  const file = openSync(folder, 'r')
  try {
    return await connectPair(`/proc/self/fd/${file}/${name}`)
  } finally {
    closeSync(file)
  }
}

async function connectPair(path: string): Promise<SharedPipe> {
  const server = createServer({ pauseOnConnect: true })
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(path, resolve)
    })
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
    const writer = await connected(path)
    const reader = await accepted
    // Either end may break; readers see that as its end.
    for (const each of [reader, writer]) each.on('error', () => undefined)
    return { reader, writer }
  } finally {
    // Removes its file as well.
    server.close()
  }
}

function connected(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })
}
