// What the parent orders of a fleet and what the fleet answers.

export type Credential = { deviceId: string; token: string }

/** How long it took until what a device reported was acknowledged. `all` counts those of the warm-up as well. */
export type ReportTimes = { perSecond: number; p50: number; p99: number; cores: number; all: number }

type Orders = {
  /** Without MQTT a device only reads: from bare sockets. */
  connect: {
    order: { port: number; devices: Credential[]; speaksMqtt: boolean; keepAliveSeconds: number }
    answer: undefined
  }
  subscribe: { order: { topics: string[]; qos: 0 | 1 }; answer: undefined }
  /** Messages are counted from here on. */
  count: { order: undefined; answer: undefined }
  /** Answered when each device has so many: when the last one came, how large they were on average, and the cores that this process kept busy. */
  counted: {
    order: { each: number }
    answer: { firstAt: number; lastAt: number; bytes: number; cores: number }
  }
  /** Every device reports success of what it was last notified of, and waits until it is notified that nothing is left. */
  finish: { order: { topics: number }; answer: undefined }
  /** Each device pings once in its keep-alive time. Nobody may lose its connection. */
  ping: { order: { seconds: number }; answer: { sent: number; answered: number } }
  /** From here on each device reports success of what it is notified of, at once. */
  collect: { order: undefined; answer: undefined }
  /** Which executions devices were notified of, and when. */
  collected: { order: undefined; answer: { jobIds: number[]; at: number[]; cores: number } }
  /**
   * Status updates from so many devices: each sends its next when the one before is acknowledged, or, with
   * `perSecond`, as many as that in all, whatever the answers take.
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
