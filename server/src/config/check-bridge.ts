// Checks the settings of a bridge. Messages never contain secrets.

import { createSecureContext } from 'node:tls'
import { type BridgeSettings, defaultPrefix } from '../gateway/bridge/bridge-settings.ts'
import { isLoopback } from './is-loopback.ts'

const encrypted = ['mqtts:', 'wss:']
const protocols = ['mqtt:', 'ws:', ...encrypted]

export function checkBridge(
  bridge: BridgeSettings,
  allowPlaintext: boolean,
  problems: string[],
  where = `bridge ${bridge.bridgeName}`,
): void {
  const { prefix, events, user, password } = bridge
  checkUrl(bridge, where, problems)
  if (password !== undefined && user === undefined) problems.push(`${where}: its password has no user`)
  if (!allowPlaintext && sendsPasswordInClear(bridge))
    problems.push(
      `${where}: its password would be sent in clear text. Use mqtts or wss, or set --allow-plaintext if the network is protected otherwise`,
    )
  if (!isTopic(prefix) || prefix.endsWith('/'))
    problems.push(`${where}: the prefix "${prefix}" is not a topic such as ${defaultPrefix}`)
  if (events !== undefined && (!isTopic(events) || events.startsWith(`${prefix}/`)))
    problems.push(`${where}: "${events}" is not a topic for events, such as jobcast/events`)
  checkCertificates(bridge, where, problems)
}

export function sendsPasswordInClear({ url, password }: BridgeSettings): boolean {
  const parsed = URL.parse(url)
  if (password === undefined || parsed === null || encrypted.includes(parsed.protocol)) return false
  return !isLoopback(parsed.hostname.replace(/^\[|\]$/g, ''))
}

const defaultPorts: Record<string, string> = { 'mqtt:': '1883', 'mqtts:': '8883', 'ws:': '80', 'wss:': '443' }

/** With equal client ids, the broker would end the connection of one bridge whenever the other connects. */
export function checkClientIds(bridges: readonly BridgeSettings[], problems: string[]): void {
  const seen = new Map<string, string>()
  for (const { bridgeName, url, clientId } of bridges) {
    const { hostname = '', port = '', protocol = '' } = URL.parse(url) ?? {}
    const session = `${hostname.toLowerCase()}:${port || defaultPorts[protocol]} ${clientId}`
    const other = seen.get(session)
    if (other === undefined) seen.set(session, bridgeName)
    else problems.push(`bridge ${bridgeName}: bridge ${other} has the same client id on the same broker`)
  }
}

function checkUrl({ url }: BridgeSettings, where: string, problems: string[]): void {
  const parsed = URL.parse(url)
  // The message does not contain the URL, which may have a password.
  if (parsed === null || !protocols.includes(parsed.protocol) || parsed.hostname === '')
    problems.push(`${where} must have the form mqtts://broker:8883; also mqtt, ws and wss`)
  else if (parsed.username !== '' || parsed.password !== '')
    problems.push(
      `${where} must not have a user or password in its URL; set JOBCAST_BRIDGE_USER and JOBCAST_BRIDGE_PASSWORD_FILE, or user and password-file`,
    )
}

function checkCertificates({ url, ca, cert, key }: BridgeSettings, where: string, problems: string[]): void {
  const protocol = URL.parse(url)?.protocol ?? ''
  if ((ca ?? cert ?? key) !== undefined && protocols.includes(protocol) && !encrypted.includes(protocol))
    problems.push(`${where}: certificates have no effect without TLS; use mqtts or wss`)
  if ((cert === undefined) !== (key === undefined))
    problems.push(`${where}: its certificate and its key must be set together`)
  try {
    createSecureContext({ ...(ca && { ca }), ...(cert && key && { cert, key }) })
  } catch (error) {
    problems.push(`${where}: its certificate, key or CA cannot be used: ${(error as Error).message}`)
  }
}

function isTopic(text: string): boolean {
  return text.length > 0 && text.length <= 200 && !text.startsWith('/') && !/[+#\0]/.test(text)
}
