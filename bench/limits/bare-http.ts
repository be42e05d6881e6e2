// Limit: Node's own HTTP server, which reads the bodies and writes as many bytes as the service would.
// Argument: devices per call.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { triggeredJson } from '../../server/src/http/wire/triggered-json.ts'
import { fleet, jobName } from '../fleet.ts'
import { tellParent } from '../server-process.ts'

const devices = fleet.slice(0, Number(process.argv[2]))
const answer = Buffer.from(
  triggeredJson({
    runId: 1,
    jobName,
    launchedAt: Date.now(),
    firstExecutionId: 1_000_000,
    jobVersion: 1,
    devices,
  }),
)
const headers = {
  'content-type': 'application/json; charset=utf-8',
  'content-length': answer.length,
  location: '/job/api/runs/1000000',
  'x-request-id': '00000000-0000',
}

const server = createServer((request, response) => {
  request.on('data', () => undefined)
  request.on('end', () => response.writeHead(201, headers).end(answer))
})
server.listen(0, '127.0.0.1', () => tellParent((server.address() as AddressInfo).port))
