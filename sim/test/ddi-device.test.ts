// A simulated hawkBit device against a server that fails intermittently.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { within } from '@jobcast/testkit/within'
import { startDdiFleet } from '../src/index.ts'

for (const [fails, path] of [
  ['a report of its attributes', '/configData'],
  ['the answer to a cancel', '/cancelAction/1/feedback'],
] as const) {
  for (const isCut of [true, false]) {
    test(`what it is offered is not forgotten when ${fails} is ${isCut ? 'cut off' : 'answered with 500'}`, async (t) => {
      const taken = Promise.withResolvers<void>()
      let tries = 0
      const http = createServer((request, response) => {
        request.resume()
        const { url = '', method, headers } = request
        const root = `http://${headers.host}${url}`
        if (method === 'GET') {
          if (headers['if-none-match'] === '"1"') return response.writeHead(304).end()
          const links = {
            ...(path === '/configData' && { configData: { href: `${root}/configData` } }),
            ...(path !== '/configData' && { cancelAction: { href: `${root}/cancelAction/1` } }),
          }
          const body = { config: { polling: { sleep: '00:00:01' } }, _links: links }
          return response.writeHead(200, { etag: '"1"' }).end(JSON.stringify(body))
        }
        assert.ok(url.endsWith(path))
        if (tries++ > 0) {
          taken.resolve()
          return response.end('{}')
        }
        return isCut ? response.destroy() : response.writeHead(500).end()
      })
      await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
      const { port } = http.address() as AddressInfo
      const fleet = startDdiFleet({
        ...{ server: `http://127.0.0.1:${port}`, tenant: 'default', seed: 1 },
        devices: [{ deviceId: 'd', deviceToken: 'x' }],
        pattern: { workSeconds: { from: 1, to: 1 } },
      })
      t.after(async () => {
        await fleet.stop()
        http.closeAllConnections()
        http.close()
      })
      await within(30_000, () => 'it was not taken', taken.promise)
    })
  }
}
