/** How a device ends an execution. */
export type EndStatus = 'SUCCEEDED' | 'FAILED' | 'REJECTED' | 'CANCELED'

type Subject = { deviceId: string; jobId: string; document: Record<string, unknown> }

/** What happened to a simulated device. */
export type FleetEvent =
  | { kind: 'online'; deviceId: string }
  | { kind: 'offline'; deviceId: string }
  /** Its token is void: it does not reconnect. */
  | { kind: 'refused'; deviceId: string }
  /** It will retry. */
  | { kind: 'connect-failed'; deviceId: string; reason: string }
  | (Subject & { kind: 'started' })
  /** The server has confirmed it. */
  | (Subject & { kind: 'ended'; status: EndStatus; ms: number; reason: string | undefined })
  /** The execution ended without the device: it timed out, or was canceled by force. */
  | (Subject & { kind: 'abandoned' })

export type TellFleet = (event: FleetEvent) => void
