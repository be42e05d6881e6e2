/** The address for MQTT over WebSocket, derived from the HTTP address. Throws for an invalid address. */
export function webSocketAddress(server: string): string {
  const url = new URL(httpAddress(server))
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  return `${url.href.replace(/\/$/, '')}/mqtt`
}

/** Without a trailing slash. */
export function httpAddress(server: string): string {
  const url = parse(server, ['http:', 'https:'], 'http://host:8080 or https://host')
  return url.href.replace(/\/$/, '')
}

export function mqttAddress(address: string): string {
  return parse(address, ['mqtt:', 'mqtts:', 'ws:', 'wss:'], 'mqtt://host:1883, mqtts://, ws:// or wss://')
    .href
}

function parse(address: string, protocols: string[], example: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !protocols.includes(url.protocol)) {
    throw new Error(`"${address}" is not an address such as ${example}`)
  }
  // Credentials would end up in log lines; the token has its own setting.
  if (url.username !== '' || url.password !== '')
    throw new Error('an address must not contain a user name or password')
  return url
}
