// A new run, as the trigger call is answered and the devices are notified.

/** `encoded`: cached by the writer of responses; a renamed device becomes a new object. */
export type LaunchedDevice = {
  deviceId: string
  deviceName: string
  encoded?: string | Buffer | undefined
}

/** A list, or a view that acts like one: for very many devices, not each is an object. */
export type DeviceList<Device> = Iterable<Device> & {
  readonly length: number
  at(place: number): Device | undefined
  entries(): IterableIterator<[number, Device]>
  map<Value>(toValue: (device: Device, place: number) => Value): Value[]
  forEach(look: (device: Device, place: number) => void): void
  every(isSo: (device: Device, place: number) => boolean): boolean
}

/** What a trigger call is answered with. Execution i of devices has the id firstExecutionId + i. */
export type LaunchedRun = {
  runId: number
  jobName: string
  launchedAt: number
  firstExecutionId: number
  /** The version of the job that it runs, for `getDocument`. */
  jobVersion: number
  /** Empty for a large run. */
  devices: DeviceList<LaunchedDevice>
  /** Nothing of it may be offered before it is released. */
  isHeld?: true
  /** It may be offered only while the device's window is open. */
  isWindowed?: true
  /** Priority of its executions; undefined: the default. */
  priority?: number
  /** Positions in `devices` in the order of the response, if it differs. */
  order?: readonly number[]
  /** The trace it belongs to. */
  traceParent?: string
  /** It was created by an earlier call with the same idempotency key. */
  isReplayed?: true
}
