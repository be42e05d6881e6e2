// The reference of bench/files.ts: a bare node:http server that sends the content of a file. Beside its downloads, triggers have to share
// cores and loopback with the devices, but not the event loop.

import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'

const [path = '', size = ''] = process.argv.slice(2)
const server = createServer((request, response) => {
  const first = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
  response.writeHead(first === 0 ? 200 : 206, { 'content-length': Number(size) - first })
  pipeline(createReadStream(path, { start: first }), response, () => undefined)
})
server.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
})
process.on('disconnect', () => process.exit())
