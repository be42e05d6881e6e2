// Checks whether the server of this container is ready, with the exit code 0 or 1 that HEALTHCHECK expects. Plain JavaScript:
// it runs every few seconds and starts in 50 ms. It reads settings from the environment, not from flags or a file.

import { get as getPlain } from 'node:http'
import { get as getTls } from 'node:https'

const { JOBCAST_PORT, JOBCAST_TLS_CERT } = process.env
const options = {
  host: '127.0.0.1',
  port: JOBCAST_PORT || 8080,
  path: '/readyz',
  timeout: 4000,
  // The certificate is for the name that callers use, not for loopback.
  rejectUnauthorized: false,
}
const get = JOBCAST_TLS_CERT ? getTls : getPlain
get(options, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1))
