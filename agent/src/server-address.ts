/** Where the server speaks MQTT over WebSocket, by its HTTP address. Throws a sentence for what is no such address. */
export function webSocketAddress(server: string): string {
  const url = new URL(httpAddress(server))
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  return `${url.href.replace(/\/$/, '')}/mqtt`
}

/** Without a slash at its end. */
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
    throw new Error(`"${address}" is no address like ${example}`)
  }
  // It would stand in log lines, and the token has its own way in.
  if (url.username !== '' || url.password !== '') throw new Error('an address must not hold a password')
  return url
}
