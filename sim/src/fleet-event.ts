/** How a device ends an execution. */
export type EndStatus = 'SUCCEEDED' | 'FAILED' | 'REJECTED' | 'CANCELED'

type Subject = { deviceId: string; jobId: string; document: Record<string, unknown> }

/** What a simulated device did, or what became of it. */
export type FleetEvent =
  | { kind: 'online'; deviceId: string }
  | { kind: 'offline'; deviceId: string }
  /** Its token is void: it stays away. */
  | { kind: 'refused'; deviceId: string }
  /** It will try again. */
  | { kind: 'connect-failed'; deviceId: string; reason: string }
  | (Subject & { kind: 'started' })
  /** The server has confirmed it. */
  | (Subject & { kind: 'ended'; status: EndStatus; ms: number; reason: string | undefined })
  /** It ended without the device: timed out, or canceled by force. */
  | (Subject & { kind: 'abandoned' })

export type TellFleet = (event: FleetEvent) => void
