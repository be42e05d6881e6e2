// Devices that run in aws-device-program.ts, as the tests see them.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { after, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  buildInboxes,
  type DeviceClient,
  type Inboxes,
  type Json,
  type MqttDeviceClient,
  Refused,
} from './device-client.ts'

export type ConnectOptions = {
  deviceId: string
  host: string
  port: number
  version: 4 | 5
  /** IotJobsClientv2, or the older IotJobsClient. */
  api: 'requests' | 'topics'
  /** Without one the certificate tells who it is. */
  token?: string
  /** Paths. */
  tls?: { ca: string; cert: string; key: string }
}

export type InboxName = keyof Inboxes
export type ToProgram = { id: number; device: number } & (
  | { call: 'connect'; options: ConnectOptions }
  | { call: keyof DeviceClient | 'close'; args: Json[] }
)
export type FromProgram =
  | { device: number; inbox: InboxName; message: Json }
  | { id: number; value: Json }
  | { id: number; refused: { code: string; answer: Json } }
  | { id: number; error: string }

const program = fileURLToPath(new URL('./aws-device-program.ts', import.meta.url))

type Waiting = { resolve: (value: Json) => void; reject: (error: Error) => void }

/** One program for all devices of a test file. It ends with the last test. */
export class AwsDevices {
  readonly #process: ChildProcess
  readonly #inboxes: Inboxes[] = []
  readonly #waiting = new Map<number, Waiting>()
  #ids = 0

  constructor() {
    this.#process = fork(program)
    this.#process.on('message', (message: FromProgram) => this.#read(message))
    const gone = once(this.#process, 'exit')
    this.#process.on('exit', (code, signal) => {
      for (const { reject } of this.#waiting.values())
        reject(new Error(`the device ended: ${code ?? signal}`))
    })
    after(async () => {
      if (this.#process.connected) this.#process.disconnect()
      await gone
    })
  }

  async connect(t: TestContext, options: ConnectOptions): Promise<MqttDeviceClient> {
    const inboxes = buildInboxes()
    const device = this.#inboxes.push(inboxes) - 1
    await this.#ask({ device, call: 'connect', options })
    t.after(() => this.#ask({ device, call: 'close', args: [] }))
    const operation =
      (call: keyof DeviceClient) =>
      (...args: Json[]) =>
        this.#ask({ device, call, args })
    return {
      ...inboxes,
      getPending: operation('getPending'),
      startNext: operation('startNext'),
      describe: operation('describe'),
      update: operation('update'),
    }
  }

  #ask(order: Json): Promise<Json> {
    this.#ids += 1
    const id = this.#ids
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#process.send({ id, ...order }, (error) => error && reject(error))
    })
  }

  #read(message: FromProgram): void {
    if ('inbox' in message) {
      this.#inboxes[message.device]?.[message.inbox].put(message.message)
      return
    }
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if ('value' in message) waiting?.resolve(message.value)
    else if ('refused' in message) waiting?.reject(new Refused(message.refused.code, message.refused.answer))
    else waiting?.reject(new Error(message.error))
  }
}
