// Limit: plain TCP sockets that get a number of bytes on command.

import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tellParent } from '../../server-process.ts'
import { sampleMessage } from '../sample-message.ts'

type BareCommand = { messages: number; bytes: number }

const sockets = new Set<Socket>()
const server = createServer({ noDelay: true }, (socket) => {
  sockets.add(socket)
  socket.on('error', () => undefined)
  socket.on('close', () => sockets.delete(socket))
})
process.on('message', ({ messages, bytes }: BareCommand) => {
  const each = sampleMessage('notify-next', bytes)
  const all = Buffer.concat(Array(messages).fill(each))
  for (const socket of sockets) socket.write(all)
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 8192 }, () =>
  tellParent((server.address() as AddressInfo).port),
)
