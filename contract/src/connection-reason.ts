/** Why a connection failed: OpenSSL says "wrong version number", with its source file, where the other side does not use TLS. */
export function connectionReason(message: string): string {
  if (!/wrong version number/i.test(message)) return message
  return 'this port does not use TLS; use an address with http: instead of https:, ws: instead of wss:, or mqtt: instead of mqtts:'
}
