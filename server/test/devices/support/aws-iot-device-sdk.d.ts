// The part of the old SDK that the tests use; it brings no types of its own.

declare module 'aws-iot-device-sdk' {
  import type { EventEmitter } from 'node:events'

  type Done = (error?: Error | null) => void

  interface DeviceOptions {
    protocol?: 'mqtts' | 'wss-custom-auth'
    host: string
    port: number
    clientId: string
    region?: string
    keyPath?: string
    certPath?: string
    caPath?: string
    username?: string
    password?: string
    customAuthHeaders?: Record<string, string>
    websocketOptions?: Record<string, unknown>
  }

  class device extends EventEmitter {
    constructor(options: DeviceOptions)
    publish(topic: string, message: string | Buffer, options: { qos: 0 | 1 }, done: Done): void
    subscribe(topics: string[], options: { qos: 0 | 1 }, done: Done): void
    end(force: boolean, done: () => void): void
  }

  interface Job {
    id: string
    document: Record<string, unknown>
    operation?: string
    status: { status: string; statusDetails?: Record<string, string> }
    inProgress(statusDetails: Record<string, string>, done: Done): void
    succeeded(statusDetails: Record<string, string>, done: Done): void
    failed(statusDetails: Record<string, string>, done: Done): void
  }
  type OnJob = (error: Error | null, job: Job) => void

  class jobs extends device {
    subscribeToJobs(thingName: string, onJob: OnJob): void
    subscribeToJobs(thingName: string, operationName: string, onJob: OnJob): void
    startJobNotifications(thingName: string, done: Done): void
  }
}
