// Where devices connect.

export type MqttAddress = { host: string; port: number; tls: boolean }

const defaultPort = 1883

/** Throws for an invalid address. */
export function mqttAddress(text: string): MqttAddress {
  const url = URL.parse(text)
  if (url === null || !['mqtt:', 'mqtts:'].includes(url.protocol) || url.hostname === '') {
    throw new Error(`"${text}" is not an address like mqtt://host:1883 or mqtts://host:8883`)
  }
  // URL keeps the brackets of an IPv6 address; a socket does not accept them.
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return { host, port: Number(url.port || defaultPort), tls: url.protocol === 'mqtts:' }
}

/** The default MQTT address of a server. */
export function mqttAddressBeside(server: string): string {
  const { protocol, hostname } = new URL(server)
  return `${protocol === 'https:' ? 'mqtts' : 'mqtt'}://${hostname}:${defaultPort}`
}
