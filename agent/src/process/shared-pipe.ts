// One pipe for both output streams of a program, so that its output arrives in the order in which it was written. Node
// gives a child one pipe per stream; one end of a connected pair of sockets can be passed as both.

import { closeSync, openSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'

export type SharedPipe = {
  /** The output of the program. */
  reader: Socket
  /** For stdout and stderr of the program. Destroy it once the program runs: the reader ends when no process has it open. */
  writer: Socket
}

/** Name of the socket in the folder while the pair is created. */
const name = 'pipe'
/** The system's limit for the path of a socket is 108 bytes on Linux and 104 elsewhere. */
const longestPath = 100

/** The folder must be accessible only to this user. */
export async function openSharedPipe(folder: string): Promise<SharedPipe> {
  const path = join(folder, name)
  // A start that was killed may have left it behind.
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
    // Either end may break; the reader sees that as the end of the stream.
    for (const each of [reader, writer]) each.on('error', () => undefined)
    return { reader, writer }
  } finally {
    // This removes the socket's file as well.
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
