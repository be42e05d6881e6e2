// The requests of the parent to a fleet, and the responses.

export type Credential = { deviceId: string; token: string }

/** How long acknowledgements of reports took. `all` includes those of the warm-up. */
export type ReportTimes = { perSecond: number; p50: number; p99: number; cores: number; all: number }

type Orders = {
  /** Without MQTT, a device only reads from its socket. */
  connect: {
    order: { port: number; devices: Credential[]; speaksMqtt: boolean; keepAliveSeconds: number }
    answer: undefined
  }
  subscribe: { order: { topics: string[]; qos: 0 | 1 }; answer: undefined }
  /** Starts counting messages. */
  count: { order: undefined; answer: undefined }
  /** Answered when each device has `each` messages, with the times, the mean size, and the cores that the process kept busy. */
  counted: {
    order: { each: number }
    answer: { firstAt: number; lastAt: number; bytes: number; cores: number }
  }
  /** Every device reports success for its last notification, and waits for the notification that nothing is left. */
  finish: { order: { topics: number }; answer: undefined }
  /** Each device pings once per keep-alive interval. No device may lose its connection. */
  ping: { order: { seconds: number }; answer: { sent: number; answered: number } }
  /** From now on, each device reports success at once for each notification. */
  collect: { order: undefined; answer: undefined }
  /** The executions that devices were notified of, and when. */
  collected: { order: undefined; answer: { jobIds: number[]; at: number[]; cores: number } }
  /**
   * Status updates from this many devices: each sends the next one when the one before is acknowledged. With `perSecond`,
   * they send at this total rate, regardless of acknowledgements.
   */
  report: {
    order: {
      devices: number
      perSecond?: number
      warmUpMs: number
      measureMs: number
      until: 'puback' | 'accepted'
    }
    answer: ReportTimes
  }
}

export type OrderName = keyof Orders
export type Order<Name extends OrderName> = Orders[Name]['order']
export type Answer<Name extends OrderName> = Orders[Name]['answer']
export type FleetQuestion = { [Name in OrderName]: { name: Name; order: Order<Name> } }[OrderName]
export type FleetReply = { answer: unknown } | { error: string }
