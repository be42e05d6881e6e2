/** An external broker that devices are connected to. */
export type BridgeSettings = Readonly<{
  /** Identifies the bridge in logs, metrics and explanations. */
  bridgeName: string
  /** Contains no user or password. */
  url: string
  user?: string | undefined
  password?: string | undefined
  /** PEM: CAs of the broker, and the certificate and key of the bridge. */
  ca?: string | undefined
  cert?: string | undefined
  key?: string | undefined
  /** The same on all nodes: a node that takes over resumes the session of the previous one. */
  clientId: string
  /** Owner of the devices: ownerName or ownerId. */
  ownerName: string
  /** Topics start with it, without a slash at the end. */
  prefix: string
  /** A device that sent nothing for this long is offline. */
  silenceMs: number
  /** Whether unknown devices are created. */
  enroll: boolean
  /** Topic for events; undefined: they are not published. */
  events?: string | undefined
}>

export const defaultPrefix = '$aws/things'
