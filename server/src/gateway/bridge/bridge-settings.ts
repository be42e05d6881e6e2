/** One broker that devices are connected to, and how to reach it. */
export type BridgeSettings = Readonly<{
  /** Names it in logs, metrics and explanations. */
  bridgeName: string
  /** Without user and password. */
  url: string
  user?: string | undefined
  password?: string | undefined
  /** PEM: CAs of the broker, and the certificate and key of the bridge. */
  ca?: string | undefined
  cert?: string | undefined
  key?: string | undefined
  /** The same on all nodes: who takes over goes on with the session of the one before. */
  clientId: string
  /** Owner of the devices: ownerName or ownerId. */
  ownerName: string
  /** Topics start with it, without a slash at the end. */
  prefix: string
  /** A device that was not heard for so long is offline. */
  silenceMs: number
  /** Unknown devices are created. */
  enroll: boolean
  /** Topic for events; undefined: they are not published. */
  events?: string | undefined
}>

export const defaultPrefix = '$aws/things'
