// Client certificates of devices over HTTPS.

import type { FastifyRequest } from 'fastify'
import type { CertificateSubject } from '../certificates/listener-tls.ts'
import type { GatewayApp, HttpGatewayDeps } from './gateway-app.ts'

type CertificateDeps = Pick<HttpGatewayDeps, 'tls'>

/**
 * Undefined if the request has an Authorization header, which takes precedence. Also for a browser, which sends a certificate
 * with requests that a page of another site makes. Browsers send an Origin or, without one for images and links, Sec-Fetch-Site.
 */
export function subjectOf(
  { tls }: CertificateDeps,
  { headers, raw }: FastifyRequest,
): CertificateSubject | undefined {
  const isBrowser = headers.origin !== undefined || headers['sec-fetch-site'] !== undefined
  if (headers.authorization !== undefined || isBrowser) return undefined
  return tls?.subjectOf(raw.socket)
}

/** Certificates are presented when a connection begins, so a device with a new one needs a new connection. */
export function closeWithoutCredential(gateway: GatewayApp, { tls }: CertificateDeps): void {
  if (!tls?.asksForCertificates) return
  gateway.addHook('onSend', ({ headers }, reply, _payload, done) => {
    if (reply.statusCode === 401 && headers.authorization === undefined) reply.header('connection', 'close')
    done()
  })
}
