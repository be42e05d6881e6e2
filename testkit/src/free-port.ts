// A free port for a program that needs a fixed one.

import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the ephemeral ports: a client could get one of those before the program starts, or while it restarts.
 */
export async function freePort(): Promise<number> {
  const server = createServer()
  for (;;) {
    try {
      const port = randomInt(10_000, 30_000)
      await once(server.listen(port, '127.0.0.1'), 'listening')
      server.close()
      await once(server, 'close')
      return port
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
  }
}
