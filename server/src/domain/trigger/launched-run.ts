// A run as its call is answered, and as its devices are notified of it.

/** `encoded`: kept by who writes answers; a device that is renamed is another object. */
export type LaunchedDevice = {
  deviceId: string
  deviceName: string
  encoded?: string | Buffer | undefined
}

/** A list of them, or what stands for one: of very many not each is an object. */
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
  /** Names the version of the job it carries out, for `getDocument`. */
  jobVersion: number
  /** Of a large run, none. */
  devices: DeviceList<LaunchedDevice>
  /** Nothing of it may be offered before it is released. */
  isHeld?: true
  /** It may be offered to a device only while a window is open there. */
  isWindowed?: true
  /** Of its executions; undefined: the default. */
  priority?: number
  /** Positions in `devices`, in the order of the answer, if that is another. */
  order?: readonly number[]
  /** Of the trace that it belongs to. */
  traceParent?: string
  /** An earlier call with the same idempotency key has made it. */
  isReplayed?: true
}
